"""Are the tests sharp? Each mutant here is one small mistake in the compiled code; tests that pass with it are not.

    make mutants                            all of them, a quarter of a minute each
    python tests/mutate.py full.pxd line    those in files with one of these words in their path

A mutant is a text as it stands, which occurs once in its file (checked first, so that the list cannot rot silently), and a text
instead. The module it is in is compiled without optimisation, in a temporary copy of the tree that has the
built modules of the installed package, and the test files that should notice are run until something fails. A survivor calls for
a test, or for a reason in EQUIVALENT. Exit code 1 if a mutant survives that is not there, or if one that is there does not.
"""
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit
from signal import SIGKILL, SIGXCPU

ROOT = Path(__file__).resolve().parent.parent
DIRECTIVES = ("boundscheck=False", "initializedcheck=False", "wraparound=False", "cdivision=True", "embedsignature=True")
LONGEST = 300       # seconds of the processor's time for a test file: a mutant may well run for ever

# For each group: the file, the module that is compiled, the tests that should notice (with options of pytest), and the mutants.
GROUPS = [
    ("_rules.pxd", "_core", ["kernels", "rounds", "regression", "invariants"], [
        ("if s.margin <= 0.0:\n        step.tau = p.eta0 * s.weight", "if s.margin < 0.0:\n        step.tau = p.eta0 * s.weight"),
        ("if s.margin < 1.0:\n        step.tau = p.eta0 * s.weight", "if s.margin <= 1.0:\n        step.tau = p.eta0 * s.weight"),
        ("smaller(p.C * s.weight, (p.margin", "smaller(p.C, (p.margin"),
        ("(s.q + 0.5 / (p.C * s.weight))", "(s.q + 1.0 / (p.C * s.weight))"),
        ("(s.v + p.r / s.weight)", "(s.v + p.r)"),
        ("s.weight / p.r2)", "1.0 / p.r2)"),
        ("if s.margin < 1.0:\n        step = least_squares", "if s.margin < 2.0:\n        step = least_squares"),
        ("0.25 * m * m * phi2", "0.5 * m * m * phi2"),
        ("sqrt(g * g + 4.0 * s.v)", "sqrt(g * g + 2.0 * s.v)"),
        ("alpha * p.phi / root_u", "alpha * p.phi * root_u"),
        ("step.tau *= smaller(1.0, s.weight)", "step.tau *= s.weight"),
        ("step.beta *= smaller(1.0, s.weight)", "step.beta *= s.weight"),
        ("smaller(p.C * s.weight, stdev_alpha(s, p))", "smaller(p.C, stdev_alpha(s, p))"),
        ("4.0 * n * s.v * k)", "2.0 * n * s.v * k)"),
        ("(gamma - b) / (2.0 * n * k)", "(gamma + b) / (2.0 * n * k)"),
        ("- 8.0 * p.phi *", "- 4.0 * p.phi *"),
        ("alpha = (root - g) / (4.0", "alpha = (root + g) / (4.0"),
        ("step.beta = 2.0 * alpha * p.phi", "step.beta = alpha * p.phi"),
        ("if p.b * s.v > 1.0", "if p.b * s.v > 2.0"),
        ("return 1.0 / p.r", "return p.r"),
        ("precision(s, p))\n    if s.margin <= 0.0", "precision(s, p))\n    if s.margin < 0.0"),
        ("precision(s, p))\n    if s.margin < 1.0", "precision(s, p))\n    if s.margin < 0.5"),
        ("if s.margin < 1.0:\n        step.tau = s.weight\n    return step\n\n\ncdef inline Step least",
         "if s.margin < 0.5:\n        step.tau = s.weight\n    return step\n\n\ncdef inline Step least"),
        ("margin >= p.margin and p.trigger == LOSS", "margin >= p.margin"),
        ("if s.margin < 1.0:\n        step = least_squares(s, p)", "if s.margin <= 1.0:\n        step = least_squares(s, p)"),
    ]),
    ("_rules.pxd", "_core", ["full_covariance"], [
        ("return s.margin >= p.phi * sqrt(s.v)", "return s.margin >= 0.5 * p.phi * sqrt(s.v)"),
        ("return s.margin >= p.phi * s.v", "return s.margin >= 0.5 * p.phi * s.v"),
        ("return s.margin > 0.0", "return s.margin >= 0.0"),
    ]),
    ("_rules.pxd", "_core", ["batch"], [
        ("> p.slack:\n        step.tau = smaller(", "> 0.0:\n        step.tau = smaller("),
        ("> p.slack:\n        step.tau = (p.margin", "> 0.0:\n        step.tau = (p.margin"),
    ]),
    ("_rules.pxd", "_geometry/p_norm", ["p_norm"], [
        ("0.5 * p.radius * p.radius", "p.radius * p.radius"),
        ("lack / s.v if lack < s.v else 1.0", "lack / s.v"),
        ("s.margin < 1.0 and lack > 0.0", "s.margin < 1.0"),
    ]),
    ("_rules.pxd", "_geometry/multiplicative", ["multiplicative", "one_class"], [
        ("(4.0 * (p.margin - s.margin) / s.v)", "(2.0 * (p.margin - s.margin) / s.v)"),
        ("smaller(1.0, s.weight) * (4.0", "s.weight * (4.0"),
        ("* 0.125 *", "* 0.25 *"),
    ]),
    ("_geometry/rounds.pxd", "_core", ["rounds", "kernels", "regression", "full_covariance", "estimators", "contracts"], [
        ("if c <= 0.0:", "if c < 0.0:"),
        ("c *= b.class_weights[r.label]", "c = b.class_weights[r.label]"),
        ("(books.tally.seen * books.counts[r.label])", "books.counts[r.label]"),
        ("books.tally.rounds - 1.0 - books.average_from", "books.tally.rounds - books.average_from"),
        ("r.newcomer = books.open_classes", "r.newcomer = False"),
        ("books.tally.squared += error * error", "books.tally.squared += error"),
        ("books.tally.absolute += error", "books.tally.absolute += error * error"),
        ("(said > r.label) + (said < r.label)", "said > r.label"),
        ("if 0.0 < loss < 1e290", "if loss < 1e290"),
        ("scores[c] > scores[best]", "scores[c] >= scores[best]"),
        ("c != but and not (books.open_classes and books.counts[c] == 0.0) and", "c != but and"),
        ("return 1 - r.label if r.newcomer else scores[0] > 0.0", "return 1 - r.label if r.newcomer else scores[0] >= 0.0"),
        ("return s.q > 0.0 or s.v > 0.0", "return True"),
        ("s.v > 0.0\n    books.tally.skipped += 1.0", "s.v > 0.0\n    books.tally.skipped += 0.0"),
        ("reach = books.tally.reach + stride", "reach = stride"),
        ("(p.tiny <= fabs(step.tau) <= p.limit", "(fabs(step.tau) <= p.limit"),
        ("curvature += stride * stride", "curvature += 0.0"),
        ("z.margin -= scores[z.c[1]]", "z.margin += scores[z.c[1]]"),
        ("z.margin = epsilon - fabs(", "z.margin = -fabs("),
        ("row.ahead = max(AHEAD, min(row.hi - row.lo, FAR_AHEAD))", "row.ahead = AHEAD"),
    ]),
    ("_geometry/sparse.pxd", "_core", ["rounds", "contracts -k check_the_constant", "kernels", "invariants", "hostile"], [
        ("return size if z > 0.0 else -size", "return size"),
        ("/ (p.delta + sqrt(second))", "/ sqrt(second)"),
        ("return root if root > fabs(g) else fabs(g)", "return root"),
        ("larger(second / (one + beta * (x * g)), <floating>p.floor)\n    elif geometry == FORGETTING",
         "second / (one + beta * (x * g))\n    elif geometry == FORGETTING"),
        ("beta * (x * (x * second))", "beta * (x * second)"),
        ("root_of_sum(state[b], g)))", "root_of_sum(state[b], 0.0)))"),
        ("sums.score += p.bias * state[state.shape[0] - 1]", "sums.score += state[state.shape[0] - 1]"),
        ("return Sums(pair_first(sums), q + p.bias * p.bias,", "return Sums(pair_first(sums), q,"),
        ("while k + several <= row.hi:", "while k + several < row.hi:"),
        ("state.shape[0] - 1, <floating>p.bias", "state.shape[0] - 1, <floating>1.0"),
        ("/ (1.0 + beta * x * x * sigma)", "/ (1.0 + beta * x * sigma)"),
        ("pair_times(pair_times(pair_times(betas, x), x), sigma)", "pair_times(pair_times(betas, x), sigma)"),
    ]),
    ("_geometry/classes.pxd", "_core", ["rounds", "contracts -k check_the_constant", "kernels", "invariants", "hostile"], [
        ("at + gap + moves.which[i], <floating>p.bias,", "at + gap + moves.which[i], <floating>1.0,"),
        ("v[i] += x * x * variance_at(", "v[i] += x * variance_at("),
        ("cdef double x, q = bias * bias", "cdef double x, q = 0.0"),
        ("x = bias * bias if run.squared else bias", "x = bias"),
        ("done = min(done, n_classes - 2)", "done = min(done, n_classes - 3)"),
        ("v[i] = v[moves.which[i]]", "pass"),
        ("for c in range(2 * n_classes):\n        taus", "for c in range(n_classes):\n        taus"),
        ("state.shape[0] - width, <floating>p.bias, taus", "state.shape[0] - width, <floating>1.0, taus"),
    ]),
    ("_geometry/average.pxd", "_core", ["contracts -k check_the_average", "contracts -k check_sparse_is_dense"], [
        ("for k in range(row.lo, row.hi + 1):", "for k in range(row.lo, row.hi):"),
        ("if k < row.hi and data[k] == 0.0:", "if False:"),
        ("return total + bias * drift", "return total + drift"),
    ]),
    ("_core.pyx", "_core", ["rounds", "kernels", "regression", "full_covariance", "contracts"], [
        ("(books.tally.rounds - 1.0)\n            if geometry == FORGETTING", "books.tally.rounds\n            if geometry == FORGETTING"),
        ("said = sums.score - lag", "said = sums.score"),
        ("- sums.score) + lag,", "- sums.score) - lag,"),
        ("sums.score >= 0.0 else -1.0", "sums.score > 0.0 else -1.0"),
        ("step.tau != 0.0 or (task == REGRESSION and step.beta >= p.tiny)", "step.tau != 0.0"),
        ("charge(s.weight * (p.margin - s.margin), &books)\n            if geometry == POTENTIAL",
         "charge(p.margin - s.margin, &books)\n            if geometry == POTENTIAL"),
        ("remember(state, &books, &moves, -averaged(&books),", "remember(state, &books, &moves, averaged(&books) + 0,"),
        ("s.q = 2.0 * score_classes", "s.q = score_classes"),
        ("s.v = v[0] + v[1]", "s.v = v[0]"),
        ("Step(-moves.steps[0].tau,", "Step(moves.steps[0].tau,"),
        ("books.tally.skipped = skipped + 1.0\n            take_steps", "pass\n            take_steps"),
        ("space.scores[c] if c == r.label else -space.scores[c]", "space.scores[c]"),
        ("moves.steps[moves.n].tau *= sign", "moves.steps[moves.n].tau *= 1.0"),
        ("peeked(&z, f.scores, precision(&s, &p), f.v, &p)", "peeked(&z, f.scores, 0.0, f.v, &p)"),
        ("averages[j] -= drift_score", "averages[j] += drift_score"),
        ("books.tally.updates += updated", "books.tally.updates += 1.0"),
        ("if settled(s.margin, &p):\n                continue\n            moves.n",
         "if False:\n                continue\n            moves.n"),
    ]),
    ("_geometry/full.pxd", "_core", ["full_covariance"], [
        ("for i in range(j + 1, n):\n            u[i] += xj", "for i in range(j + 2, n):\n            u[i] += xj"),
        ("(2.0 * part + data[k]", "(part + data[k]"),
        ("S[j, j] = larger(S[j, j], <floating>(noise * work[at, j] * work[at, j]))", "pass"),
        ("S[i, j] -= si * work[at, j]", "S[i, j] += si * work[at, j]"),
        ("S[i, j] *= one - share", "S[i, j] *= one"),
        ("least = larger(f.noise * a * a, f.p.floor)", "least = f.p.floor"),
        ("return k if k * v < 1.0 - 8.0 * spacing else (1.0 - 8.0 * spacing) / v", "return k"),
        ("share = smaller(share, sqrt(work[left, j]) / fabs(s))", "pass"),
        ("if fallen or f.n_waiting[c] == f.depth", "if f.n_waiting[c] == f.depth"),
        ("- k[j] * f.scores[z.c[j]]", "+ k[j] * f.scores[z.c[j]]"),
        ("drift[j * f.k + c] += rounds *", "drift[j * f.k + c] -= rounds *"),
        ("v[j] = p.variance * q if z.sign[j] * scores[z.c[j]] > 0.0 else 0.0", "v[j] = 0.0"),
        ("s.v = p.variance * q * z.n", "s.v = p.variance * q"),
        ("f.resume = f.stop + RARELY *", "f.resume = f.stop + 0 *"),
    ]),
    ("_geometry/p_norm.pyx", "_geometry/p_norm", ["p_norm"], [
        ("norm.gain = size / (p.power - 1.0)", "norm.gain = size"),
        ("total += term(state[at]", "total -= term(state[at]"),
        ("return known_to(&norm.sum, total) and 1e-270 <= total <= 1e270", "return 1e-270 <= total <= 1e270"),
        ("known_to(&norm.sum, total) and 1e-270 <= total <= 1e270", "known_to(&norm.sum, total)"),
        ("for j in range(n - 1):", "for j in range(n):"),
        ("norm_of(norms, c).inverse, p.squarings)", "norms.of.inverse, p.squarings)"),
        ("books.tally.updates += updated", "books.tally.updates += 1.0"),
        ("books.tally.skipped = skipped + 1.0", "pass"),
        ("if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:", "if p.rule == AGGRESSIVE_P_NORM:"),
    ]),
    ("_geometry/centre.pyx", "_geometry/centre", ["one_class"], [
        ("add(sum, -<double>state[at] * state[at])", "add(sum, <double>state[at] * state[at] * 1)"),
        ("2.0 * centre.scale * sums.score", "centre.scale * sums.score"),
        ("double a = (1.0 - share) * centre.scale", "double a = centre.scale"),
        ("if a < least or books", "if books"),
        ("<= SURFACE * p.spacing * size", "<= 0.0"),
        ("if -s.margin <= p.slack:", "if False:"),
        ("smaller(1.0, s.weight) * apply_rule", "apply_rule"),
        ("books.tally.updates += not first", "books.tally.updates += 1.0"),
        ("if not known_to(&centre.squares, centre.squares.high):", "if False:"),
    ]),
    ("_geometry/multiplicative.pyx", "_geometry/multiplicative", ["multiplicative", "one_class"], [
        ("return p.norm_bound / normaliser", "return 1.0 / normaliser"),
        ("n_values // (2 * k) - (p.bias == 0.0)", "n_values // (2 * k)"),
        ("if r.newcomer and w.n_groups < k", "if w.n_groups < k"),
        ("if p.geometry == SINH or z.n == 2 else 1.0", "if p.geometry == SINH else 1.0"),
        ("books.tally.updates += updated", "books.tally.updates += 1.0"),
        ("2.0 * gain * product", "gain * product"),
        ("or s.margin >= 0.0:", "or s.margin > 0.0:"),
        ("p.epsilon - sqrt(square), p.norm_bound * farthest", "p.epsilon - sqrt(square), farthest"),
        ("books.tally.skipped = skipped + 1.0", "pass"),
    ]),
    ("_geometry/simplex.pyx", "_geometry/simplex", ["multiplicative", "one_class", "contracts -k check_the_average"], [
        ("if s.group.shift > s.group.top + 20.0:", "if False:"),
        ("if group.top > group.shift + SPREAD:", "if False:"),
        ("drift_at(s, places[j])[0] -= group.ages", "drift_at(s, places[j])[0] += group.ages"),
        ("n_all += s.n * has_joined(s, c)", "n_all += s.n"),
        ("(n_all - n_done - n) * <double>root", "(n_all - n_done) * <double>root"),
        ("if largest > s.limit:", "if False:"),
        ("(SPREAD if s.drift == NULL else CLOSE)", "SPREAD"),
        ("if group.high < (SHRUNK if s.drift == NULL else <double>0.01) * group.peak:", "if False:"),
        ("drift_at(s, at)[0] += group.ages", "drift_at(s, at)[0] -= group.ages"),
        ("drift_at(s, at)[0] -= s.group.ages", "drift_at(s, at)[0] += s.group.ages"),
    ]),
    ("_geometry/simplex.pxd", "_geometry/simplex", ["multiplicative", "dual_ascent"], [
        ("low += sums[LANES + j]", "low += 0.0"),
    ]),
    ("_geometry/simplex.pxd", "_geometry/multiplicative", ["multiplicative", "contracts -k check_the_constant"], [
        ("larger(largest, bias)", "largest"),
        ("return Size(q + bias * bias", "return Size(q"),
        ("sums[c] += bias * state", "sums[c] += state"),
    ]),
    ("_ascent/ascent.pyx", "_ascent/ascent", ["dual_ascent", "dual_ascent_regression", "contracts -k check_the_average"], [
        ("return 1.0 / (p.sigma * t) if t > 0.0 else 0.0", "return 1.0 / p.sigma if t > 0.0 else 0.0"),
        ("value -= data[j] * a.drift", "value += data[j] * a.drift"),
        ("sqrt(2.0 * books.tally.rounds)", "sqrt(books.tally.rounds)"),
        ("wanted <= old * STEP_OF_GRID", "wanted <= old"),
        ("compute_powers(state, &a.simplex, old / wanted)", "compute_powers(state, &a.simplex, wanted / old)"),
        ("books.tally.rounds > books.average_from", "books.tally.rounds >= books.average_from"),
        ("a.drift[at] += ages *", "a.drift[at] -= ages *"),
        ("d[i] *= a.p.sigma / sqrt(t)", "d[i] *= a.p.sigma"),
        ("squares += d[i] * (2.0 *", "squares += d[i] * ("),
        ("a.shared.gain += a.gain", "a.shared.gain -= a.gain"),
        ("if a.loss >= a.weight * bend:\n        return True", "if a.loss >= 0.0:\n        return True"),
        ("rise = up[j] if x[j] > 0.0 else down[j]", "rise = up[j]"),
        ("a.line.slope = a.size.q / a.shared.sigma", "a.line.slope = a.size.q"),
        ("value = a.loss / (2.0 * q)", "value = a.loss / q"),
        ("moves[n], d[n] = r, -alpha[r]", "moves[n], d[n] = r, alpha[r]"),
        ("= 1.0, -total, c * total", "= 1.0, total, c * total"),
        ("line.slope += d[r] * d[r] * q", "line.slope += d[r] * q"),
        ("a.line.ridge = 0.5 / a.weight", "a.line.ridge = 1.0 / a.weight"),
        ("(0.25 * alpha * alpha", "(0.5 * alpha * alpha"),
        ("alpha = value if value < alpha else alpha", "alpha = value"),
        ("(2.0 if a.joint else 1.0)", "1.0"),
        ("books.tally.skipped += a.n_moves", "books.tally.skipped += 0"),
    ]),
    ("_ascent/line.pyx", "_ascent/line", ["dual_ascent", "dual_ascent_regression", "follow_the_leader"], [
        ("slope = gain - line.ridge * s - value", "slope = gain - value"),
        ("return most + log(total)", "return log(total)"),
        ("c / (1.0 + exp(margin))", "c / (1.0 + exp(-margin))"),
        ("alpha = rate if rate < c else c", "alpha = rate"),
        ("gain[0] = alpha * gamma", "gain[0] = alpha"),
        ("+ margin + slope * a", "+ margin - slope * a"),
        ("level = total / (2.0 + j)", "level = total / (1.0 + j)"),
        ("if level > most:", "if False:"),
        ("level = (total - most) / (1.0 + j)", "level = (total - most) / (2.0 + j)"),
        ("scores[r] + (kappa if r == label else 0.0)", "scores[r]"),
        ("gamma - value + gradient[r]", "gamma + value + gradient[r]"),
        ("alpha[best] += s", "alpha[best] -= s"),
        ("(up - line.up[at]) + (down - line.down[at])", "(up - line.up[at])"),
        ("if gap <= GAP or rates == 0.0:", "if gap <= 0.01 or rates == 0.0:"),
        ("total -= shares[r] * log(shares[r])", "total += shares[r] * log(shares[r])"),
    ]),
    ("_ascent/forel.pyx", "_ascent/forel", ["follow_the_leader", "contracts -k forel"], [
        ("p.bias * theta[last, c]) / p.sigma", "theta[last, c]) / p.sigma"),
        ("if k > 1 and not has_joined(books, c):\n            continue\n        if k == 1",
         "if False:\n            continue\n        if k == 1"),
        ("gap -= leader.alpha[i, c]", "gap += leader.alpha[i, c]"),
        ("weight if new > weight else new", "new"),
        ("(whole + alpha[i, c])", "whole"),
        ("label, total - whole,", "label, whole - total,"),
        ("if term * n > leader.p.tolerance:", "if term > leader.p.tolerance:"),
        ("if gap <= larger(leader.p.tolerance,", "if gap <= larger(1e3 * leader.p.tolerance,"),
        ("books.tally.skipped += q > 0.0", "books.tally.skipped += 1.0"),
        ("and reach <= leader.p.limit and", "and"),
    ]),
    ("_ascent/experts.pxd", "_ascent/ascent", ["dual_ascent", "bounds"], [
        ("sqrt(8.0 * log", "sqrt(4.0 * log"),
        ("score > 0.5", "score >= 0.5"),
        ("(share if r.label else -share)", "share"),
        ("numbers.gain += score", "numbers.gain += r.weight * score"),
        ("books.tally.updates += moved", "books.tally.updates += r.row.hi > r.row.lo"),
    ]),
    ("_kernelized/support.pyx", "_kernelized/support", ["kernel_learners"], [
        ("v = self.scale[c] * self.self_product -", "v = self.self_product -"),
        ("/ (1.0 + beta * self.v[z.c[j]])", "/ 1.0"),
        ("(tau - step.beta * self.scores[c])", "(tau + step.beta * self.scores[c])"),
        ("fits &= tau == 0.0 or TINY <= fabs(tau)", "pass"),
        ("= -self.e[j] / novelty", "= self.e[j] / novelty"),
        ("if novelty <= NOVELTY * self.self_product:", "if novelty <= 0.0:"),
        ("self.norm -= self.taus[j] * self.taus[j] * novelty", "pass"),
        ("self.g[at] += weight", "self.g[at] -= weight"),
        ("while self.size > self.budget:", "while self.size >= self.budget:"),
        ("else change * self.norms[i]", "else change"),
        ("change = change / self.Q[triangle(i) + i]", "change = change"),
        ("or change < least:", "or change <= least:"),
        ("self.norm -= self.alpha[c, j] * self.alpha[c, j] / q", "pass"),
        ("self.g[i] + p_j * self.e[i],", "self.g[i],"),
        ("and z.n == 1 and s.margin > 0.0", "and s.margin > 0.0"),
        ("step.tau != 0.0 or (task == REGRESSION and step.beta > 0.0)", "step.tau != 0.0"),
        ("books.tally.updates -= 1.0", "pass"),
        ("smaller(1.0, r.weight) * (distance", "(distance"),
        ("(1.0 - share) * (1.0 - share)", "(1.0 - share)"),
        ("books.tally.skipped = skipped + 1.0", "pass"),
    ]),
]

# Mutants that change nothing one could see: (file, text as it stands) and the reason.
EQUIVALENT = {
    ("_rules.pxd", "if s.margin < 1.0:\n        step = least_squares(s, p)"): "at a margin of 1 the step is τ = 0, and not taken",
    ("_geometry/rounds.pxd", "row.ahead = max(AHEAD, min(row.hi - row.lo, FAR_AHEAD))"): "what is prefetched only saves time",
    ("_geometry/sparse.pxd", "while k + several <= row.hi:"): "the features left over go one by one, to the same bits",
    ("_core.pyx", "sums.score >= 0.0 else -1.0"): "a residual of 0 moves no weight, whatever its sign",
    ("_core.pyx", "if settled(s.margin, &p):\n                continue\n            moves.n"): "the rule finds no step either",
    ("_geometry/full.pxd", "f.resume = f.stop + RARELY *"): "which products are made ahead only saves time",
    ("_geometry/simplex.pyx", "if group.top > group.shift + SPREAD:"): "a joint learner's θ add up to 0: K is never far below it",
    ("_geometry/p_norm.pyx", "if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:"): "for m <= 0 the rule does not read the norm",
}


def mutants(words):
    """(file, module, tests, old, new) of each, one group after the other taking its turn."""
    turns = zip_longest(*([(file, module, tests, *texts) for texts in group] for file, module, tests, group in GROUPS))
    chosen = [mutant for turn in turns for mutant in turn if mutant]
    for file, *_, old, _ in chosen:
        if (n := (ROOT / "src/onlinecls" / file).read_text().count(old)) != 1:
            sys.exit(f"mutate.py: a mutant's text must occur once in its file; {n} times in {file}: {old!r}")
    known = {(file, old) for file, *_, old, _ in chosen}
    if rotten := EQUIVALENT.keys() - known:
        sys.exit(f"mutate.py: no such mutants, in EQUIVALENT: {rotten}")
    return [mutant for mutant in chosen if not words or any(word in mutant[0] for word in words)]


def copy_of_tree(tree):
    """The tree with the built modules of the package that this Python imports."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "*.so", "__pycache__", "docs", "*.egg-info"))
    import onlinecls

    package = Path(onlinecls.__file__).parent
    for path in package.rglob("*.so"):
        shutil.copy(path, tree / "src/onlinecls" / path.relative_to(package))


def compile_module(tree, module):
    source = f"onlinecls/{module}.pyx"
    built = f"onlinecls/{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
    directives = [word for directive in DIRECTIVES for word in ("-X", directive)]
    cython = [sys.executable, "-m", "cython", "-3", *directives, source, "-o", "mutant.c"]
    flags = "-O0 -g0 -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math -w -Ionlinecls".split()
    compiler = [*os.environ.get("CC", "cc").split(), *flags, f"-I{sysconfig.get_paths()['include']}", "mutant.c", "-o", built]
    for command in (cython, compiler):
        done = subprocess.run(command, cwd=tree / "src", capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"mutate.py: {module} does not compile with this mutant:\n{done.stderr[-3000:]}")


def first_failure(tree, tests):
    """What fails first of these tests; None: they pass."""
    environment = {**os.environ, "PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    for name, *options in map(str.split, tests):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/test_{name}.py", *options]
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=20 * LONGEST,
                                  preexec_fn=lambda: setrlimit(RLIMIT_CPU, (LONGEST, LONGEST)))
        except subprocess.TimeoutExpired:
            return f"test_{name}.py, which waits for ever"
        if done.returncode in (-SIGXCPU, -SIGKILL):
            return f"test_{name}.py, which runs for ever"
        if done.returncode:
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" - ")[0] if failed else f"test_{name}.py, which ends with exit code {done.returncode}"
    return None


def main(words):
    chosen = mutants(words)
    survivors, wrong = [], []
    with tempfile.TemporaryDirectory() as room:
        tree = Path(room) / "tree"
        copy_of_tree(tree)
        for module in sorted({module for _, module, *_ in chosen}):
            compile_module(tree, module)
        if failed := first_failure(tree, sorted({name for _, _, tests, _, _ in chosen for name in tests})):
            sys.exit(f"mutate.py: the tests must pass before anything is changed: {failed}")
        for number, (file, module, tests, old, new) in enumerate(chosen, 1):
            begin = time.monotonic()
            path = tree / "src/onlinecls" / file
            built = tree / "src/onlinecls" / f"{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
            text, kept = path.read_text(), built.read_bytes()
            path.write_text(text.replace(old, new))
            compile_module(tree, module)
            failed = first_failure(tree, tests)
            path.write_text(text)
            built.write_bytes(kept)
            name = f"{file}: {old!r} -> {new!r}"
            reason = EQUIVALENT.get((file, old))
            if not failed and not reason:
                survivors.append(name)
            if reason and failed:
                wrong.append(name)
            said = f"killed by {failed}" if failed else f"survived{', as it should: ' + reason if reason else ''}"
            print(f"{number}/{len(chosen)} ({time.monotonic() - begin:.0f} s) {name}\n    {said}", flush=True)
    print(f"{len(chosen)} mutants, {len(survivors)} survivors, {len(wrong)} in EQUIVALENT that are none")
    print(*survivors, *wrong, sep="\n")
    return 1 if survivors or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
