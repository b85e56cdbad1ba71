"""Are the tests sharp? Each mutant here is one small mistake in the code; tests that pass with it are not.

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

# For each group: the file, the module that is compiled (of Python's files: none), the tests that should notice (with options of
# pytest), and the mutants.
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
        ("step.beta *= smaller(1.0, s.weight)", "step.beta *= s.weight"),
        ("smaller(p.C * s.weight, stdev_alpha(s, p))", "smaller(p.C, stdev_alpha(s, p))"),
        ("4.0 * n * s.v * k)", "2.0 * n * s.v * k)"),
        ("(gamma - b) / (2.0 * n * k)", "(gamma + b) / (2.0 * n * k)"),
        ("alpha = (root - g) / (4.0", "alpha = (root + g) / (4.0"),
        ("if p.b * s.v > 1.0", "if p.b * s.v > 2.0"),
        ("return 1.0 / p.r", "return p.r"),
        ("precision(s, p))\n    if s.margin <= 0.0", "precision(s, p))\n    if s.margin < 0.0"),
        ("precision(s, p))\n    if s.margin < 1.0", "precision(s, p))\n    if s.margin < 0.5"),
        ("if s.margin < 1.0:\n        step.tau = s.weight\n    return step\n\n\ncdef inline Step least",
         "if s.margin < 0.5:\n        step.tau = s.weight\n    return step\n\n\ncdef inline Step least"),
        ("margin >= p.margin and p.trigger == LOSS", "margin >= p.margin"),
    ]),
    ("_rules.pxd", "_core", ["full_covariance"], [
        ("return s.margin >= p.phi * sqrt(s.v)", "return s.margin >= 0.5 * p.phi * sqrt(s.v)"),
        ("return s.margin >= p.phi * s.v", "return s.margin >= 0.5 * p.phi * s.v"),
        ("return s.margin > 0.0", "return s.margin >= 0.0"),
    ]),
    ("_rules.pxd", "_core", ["batch"], [("> p.slack:\n        step.tau = smaller(", "> 0.0:\n        step.tau = smaller(")]),
    ("_rules.pxd", "_compiled/p_norm", ["p_norm"], [
        ("0.5 * p.radius * p.radius", "p.radius * p.radius"),
        ("missing / s.norm_p2 if missing < s.norm_p2 else 1.0", "missing / s.norm_p2"),
    ]),
    ("_rules.pxd", "_compiled/multiplicative", ["multiplicative", "one_class"], [
        ("(4.0 * (p.margin - s.margin) / s.width)", "(2.0 * (p.margin - s.margin) / s.width)"),
        ("smaller(1.0, s.weight) * (4.0", "s.weight * (4.0"),
        ("* 0.125 *", "* 0.25 *"),
    ]),
    ("_compiled/rounds.pxd", "_core",
     ["rounds", "kernels", "regression", "full_covariance", "estimators", "contracts -k check_counters"], [
        ("if c > 0.0:", "if c >= 0.0:"),
        ("c *= b.class_weights[r.label]", "c = b.class_weights[r.label]"),
        ("(context.counters.seen * context.counts[r.label])", "context.counts[r.label]"),
        ("context.counters.rounds - 1.0 - context.average_from", "context.counters.rounds - context.average_from"),
        ("r.newcomer = context.open_classes", "r.newcomer = False"),
        ("context.counters.squared += error * error", "context.counters.squared += error"),
        ("(predicted > r.label) + (predicted < r.label)", "predicted > r.label"),
        ("if 0.0 < loss < 1e290", "if loss < 1e290"),
        ("best = c if scores[c] > highest", "best = c if scores[c] >= highest"),
        ("if c == but or (context.open_classes and context.counts[c] == 0.0):\n            continue",
         "if c == but:\n            continue"),
        ("return 1 - r.label if r.newcomer else scores[0] > 0.0", "return 1 - r.label if r.newcomer else scores[0] >= 0.0"),
        ("return s.q > 0.0 or s.v > 0.0", "return True"),
        ("s.v > 0.0\n    context.counters.skipped += 1.0", "s.v > 0.0\n    context.counters.skipped += 0.0"),
        ("max_abs_weight = context.counters.max_abs_weight + change", "max_abs_weight = change"),
        ("(p.tiny <= fabs(step.tau) <= p.limit", "(fabs(step.tau) <= p.limit"),
        ("curvature += change * change", "curvature += 0.0"),
        ("- scores[0]) + lag,", "- scores[0]) - lag,"),
        ("cdef double score = scores[0] - lag", "cdef double score = scores[0]"),
        ("context.counters.updates += updated", "context.counters.updates += 1.0"),
        ("context.counters.skipped = r.skipped + 1.0", "pass"),
        ("z.margin -= scores[z.c[1]]", "z.margin += scores[z.c[1]]"),
    ]),
    ("_compiled/rounds.pxd", "_compiled/support", ["kernel_learners"], [    # (what _core learns targets with needs none of it)
        ("z.margin = epsilon - fabs(", "z.margin = -fabs("),
    ]),
    ("_compiled/sparse.pxd", "_core", ["rounds", "kernels", "invariants", "contracts -k check_the_constant"], [
        ("return size if z > 0.0 else -size", "return size"),
        ("/ (p.delta + sqrt(second))", "/ sqrt(second)"),
        ("return root if root > fabs(g) else fabs(g)", "return root"),
        ("sums.score += p.bias * state[state.shape[0] - 1]", "sums.score += state[state.shape[0] - 1]"),
        ("return Sums(double2_first(sums), q + p.bias * p.bias,", "return Sums(double2_first(sums), q,"),
        ("/ (1.0 + beta * x * x * sigma)", "/ (1.0 + beta * x * sigma)"),
    ]),
    ("_compiled/classes.pxd", "_core",
     ["rounds", "kernels", "invariants", "contracts -k check_the_constant", "contracts -k few_rows"], [
        ("v[i] += x * x * variance_at(", "v[i] += x * variance_at("),
        ("cdef double x, q = bias * bias", "cdef double x, q = 0.0"),
        ("x = bias * bias if run.squared else bias", "x = bias"),
        ("done = min(done, n_classes - 2)", "done = min(done, n_classes - 3)"),
        ("v[i] = v[steps.classes[i]]", "pass"),
        ("for c in range(2 * n_classes):\n        taus", "for c in range(n_classes):\n        taus"),
        ("taus[n_classes + steps.classes[i]]", "taus[n_classes + i]"),
        ("sum_pairs(10, state", "sum_pairs(9, state"),
        ("at = state.shape[0] - n_classes\n    x = p.bias", "at = state.shape[0] - n_classes\n    x = 1.0"),
        ("n_classes + c, n_classes, p.bias, beta)", "n_classes + c, n_classes, 1.0, beta)"),
        ("if p.geometry == FORGETTING:\n        return forgetful_variance", "if False:\n        return forgetful_variance"),
    ]),
    ("_compiled/rounds.pxd", "_core", ["contracts -k check_the_average", "contracts -k check_sparse_is_dense"], [
        ("for k in range(row.lo, row.hi + 1):", "for k in range(row.lo, row.hi):"),
        ("if k < row.hi and data[k] == 0.0:", "if False:"),
        ("return total + bias * correction", "return total + correction"),
    ]),
    ("_core.pyx", "_core",
     ["rounds", "kernels", "regression", "full_covariance", "contracts -k check_counters", "contracts -k check_the_average"], [
        ("p.l1 * (context.counters.rounds - 1.0)", "p.l1 * context.counters.rounds"),
        ("state.shape[0] - 1, <floating>p.bias", "state.shape[0] - 1, <floating>1.0"),
        ("x = data[k] if k < row.hi else <floating>p.bias", "x = data[k] if k < row.hi else <floating>1.0"),
        ("larger(second / (one + beta * (x * g)), <floating>p.floor)\n    elif geometry == FORGETTING",
         "second / (one + beta * (x * g))\n    elif geometry == FORGETTING"),
        ("beta * (x * (x * second))", "beta * (x * second)"),
        ("root_of_sum(state[b], g)))", "root_of_sum(state[b], 0.0)))"),
        ("sums.score >= 0.0 else -1.0", "sums.score > 0.0 else -1.0"),
        ("step.tau != 0.0 or (task == REGRESSION and step.beta >= p.tiny)", "step.tau != 0.0"),
        ("update_average(-1.0, state, context, &steps,", "update_average(1.0, state, context, &steps,"),
        ("s.q = 2.0 * score_classes", "s.q = score_classes"),
        ("work.scores[c] if c == r.label else -work.scores[c]", "work.scores[c]"),
        ("steps.each[steps.n].tau *= sign", "steps.each[steps.n].tau *= 1.0"),
        ("lookahead(z, f.scores, precision(&s, p), f.v, p)", "lookahead(z, f.scores, 0.0, f.v, p)"),
        ("averages[j] = f.scores[j] - average_lag", "averages[j] = f.scores[j] + average_lag"),
        ("and not context.open_classes and not context.balanced and", "and"),
    ]),
    ("_compiled/full.pxd", "_core", ["full_covariance"], [
        ("for i in range(j + 1, n):\n            u[i] += xj", "for i in range(j + 2, n):\n            u[i] += xj"),
        ("(2.0 * part + data[k]", "(part + data[k]"),
        ("S[j, j] = larger(S[j, j], <floating>(noise * work[at, j] * work[at, j]))", "pass"),
        ("S[i, j] -= si * work[at, j]", "S[i, j] += si * work[at, j]"),
        ("S[i, j] *= one - part", "S[i, j] *= one"),
        ("least = larger(f.noise * a * a, f.p.floor)", "least = f.p.floor"),
        ("return k if k * v < 1.0 - 8.0 * spacing else (1.0 - 8.0 * spacing) / v", "return k"),
        ("v[j] = p.variance * q if z.sign[j] * scores[z.c[j]] > 0.0 else 0.0", "v[j] = 0.0"),
        ("s.v = p.variance * q * z.n", "s.v = p.variance * q"),
    ]),
    ("_core.pyx", "_core", ["full_covariance"], [
        ("shrink = smaller(shrink, <floating>(sqrt(work[left, j]) / fabs(s)))", "pass"),
        ("if fallen or f.n_waiting[c] == f.depth", "if f.n_waiting[c] == f.depth"),
        ("- k[j] * f.scores[z.c[j]]", "+ k[j] * f.scores[z.c[j]]"),
        ("correction[j * f.k + c] += rounds *", "correction[j * f.k + c] -= rounds *"),
    ]),
    ("_compiled/p_norm.pyx", "_compiled/p_norm", ["p_norm"], [
        ("norm.weight_scale = size / (p.power - 1.0)", "norm.weight_scale = size"),
        ("return is_known(&norm.sum, total) and 1e-270 <= total <= 1e270", "return 1e-270 <= total <= 1e270"),
        ("norm_of(norms, c).inverse, p.squarings)", "norms.of.inverse, p.squarings)"),
        ("after_step(&r, updated, context)", "after_step(&r, True, context)"),
        ("if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:", "if p.rule == AGGRESSIVE_P_NORM:"),
    ]),
    ("_compiled/centre.pyx", "_compiled/centre", ["batch", "one_class"], [("if -s.margin <= p.slack:", "if False:")]),
    ("_compiled/centre.pyx", "_compiled/centre", ["one_class"], [
        ("add(sum, -<double>state[at] * state[at])", "add(sum, <double>state[at] * state[at] * 1)"),
        ("double a = (1.0 - share) * centre.scale", "double a = centre.scale"),
        ("if a < least or context", "if context"),
        ("<= SURFACE * p.spacing * size", "<= 0.0"),
        ("after_step(&r, not first, context)", "after_step(&r, True, context)"),
        ("if not is_known(&centre.squares, centre.squares.high):", "if False:"),
    ]),
    ("_compiled/combine.pyx", "_compiled/combine", ["committee", "contracts -k committee"], [
        ("if factor * trace > k:", "if factor * trace > 2.0 * k:"),
        ("beta = 1.0 / (v + f.r / c)", "beta = 1.0 / (v + f.r)"),
        ("eta = sqrt(8.0 * log(<double>f.k) / (t + 1.0))", "eta = sqrt(8.0 * log(<double>f.k) / t)"),
        ("if r.newcomer:", "if r.newcomer and f.hedges:"),
        ("fits &= fabs(f.z[j]) <= f.limit         # (NaN is not)", "pass"),
        ("return UNCHANGED if margin >= 1.0 else", "return UNCHANGED if margin >= 2.0 else"),
        ("n_below == (n_live - 1) // 2", "n_below == n_live // 2"),
        ("if unit != f.gauge[0]:", "if unit > f.gauge[0]:"),
        ("        begin(f)\n        i = 0", "        i = 0"),
        ("context.has_observers = ENDLESS,", "context.has_observers = 1,"),
        ("cdef bint learns = not self.are_seen", "cdef bint learns = True"),
        ("n += context.columns", "n += 1"),
        ("found.weights = b.weights + start", "found.weights = b.weights"),
        ("found.order = b.order + start", "found.order = b.order"),
    ]),
    ("_compiled/multiplicative.pyx", "_compiled/multiplicative", ["multiplicative", "one_class"], [
        ("return p.norm_bound / normaliser", "return 1.0 / normaliser"),
        ("n_values // (2 * k) - (p.bias == 0.0)", "n_values // (2 * k)"),
        ("if r.newcomer and w.n_groups < k", "if w.n_groups < k"),
        ("if p.geometry == SINH or z.n == 2 else 1.0", "if p.geometry == SINH else 1.0"),
        ("after_step(&r, updated, context)", "after_step(&r, True, context)"),
        ("if s.margin >= 0.0:", "if s.margin > 0.0:"),
        ("p.epsilon - sqrt(square), p.norm_bound * farthest", "p.epsilon - sqrt(square), farthest"),
    ]),
    ("_compiled/simplex.pyx", "_compiled/simplex", ["multiplicative", "one_class", "contracts -k check_the_average"], [
        ("if s.group.shift > s.group.top + 20.0:", "if False:"),
        ("if group.top > group.shift + SPREAD:", "if False:"),
        ("correction_at(s, places[j])[0] -= group.ages", "correction_at(s, places[j])[0] += group.ages"),
        ("n_all += s.n * has_joined(s, c)", "n_all += s.n"),
        ("(n_all - n_done - n) * <double>root", "(n_all - n_done) * <double>root"),
        ("if largest > s.limit:", "if False:"),
        ("(SPREAD if s.correction == NULL else CLOSE)", "SPREAD"),
        ("if group.high < (SHRUNK if s.correction == NULL else <double>0.01) * group.peak:", "if False:"),
    ]),
    ("_compiled/simplex.pxd", "_compiled/simplex", ["multiplicative", "dual_ascent"], [
        ("low += sums[LANES + j]", "low += 0.0"),
    ]),
    ("_compiled/simplex.pxd", "_compiled/multiplicative", ["multiplicative", "contracts -k check_the_constant"], [
        ("larger(largest, bias)", "largest"),
        ("return Size(q + bias * bias", "return Size(q"),
    ]),
    ("_compiled/dual_ascent.pyx", "_compiled/dual_ascent", [
        "dual_ascent", "dual_ascent_regression", "contracts -k check_the_average"], [
        ("return 1.0 / (p.sigma * t) if t > 0.0 else 0.0", "return 1.0 / p.sigma if t > 0.0 else 0.0"),
        ("sqrt(2.0 * context.counters.rounds)", "sqrt(context.counters.rounds)"),
        ("wanted <= old * STEP_OF_GRID", "wanted <= old"),
        ("compute_powers(state, &a.simplex, old / wanted)", "compute_powers(state, &a.simplex, wanted / old)"),
        ("context.counters.rounds > context.average_from", "context.counters.rounds >= context.average_from"),
        ("a.correction[at] += ages *", "a.correction[at] -= ages *"),
        ("d[i] *= a.p.sigma / sqrt(t)", "d[i] *= a.p.sigma"),
        ("a.shared.dual_gain += a.dual_gain", "a.shared.dual_gain -= a.dual_gain"),
        ("if a.loss >= a.weight * bend:\n        return True", "if a.loss >= 0.0:\n        return True"),
        ("rise = up[j] if x[j] > 0.0 else down[j]", "rise = up[j]"),
        ("value = a.loss / (2.0 * q)", "value = a.loss / q"),
        ("moves[n], d[n] = r, -alpha[r]", "moves[n], d[n] = r, alpha[r]"),
        ("a.line.ridge = 0.5 / a.weight", "a.line.ridge = 1.0 / a.weight"),
        ("(2.0 if a.joint else 1.0)", "1.0"),
        ("value - a.p.bias * a.correction", "value - a.correction"),
        ("larger(a.shared.lipschitz, a.steepness)", "a.steepness"),
        ("a.limit = a.p.limit * a.shared.sigma", "a.limit = a.p.limit"),
        ("context.counters.skipped += a.n_moves - updated", "pass"),
    ]),
    ("_compiled/line_search.pyx", "_compiled/line_search", ["dual_ascent", "dual_ascent_regression", "follow_the_leader"], [
        ("slope = gain - line.ridge * s - value", "slope = gain - value"),
        ("return most + log(total)", "return log(total)"),
        ("alpha = rate if rate < c else c", "alpha = rate"),
        ("gain[0] = alpha * gamma", "gain[0] = alpha"),
        ("level = total / (2.0 + j)", "level = total / (1.0 + j)"),
        ("if level > most:", "if False:"),
        ("scores[r] + (kappa if r == label else 0.0)", "scores[r]"),
        ("(up - line.up[at]) + (down - line.down[at])", "(up - line.up[at])"),
        ("if gap <= GAP or rates == 0.0:", "if gap <= 0.01 or rates == 0.0:"),
        ("total -= shares[r] * log(shares[r])", "total += shares[r] * log(shares[r])"),
    ]),
    ("_compiled/forel.pyx", "_compiled/forel", ["follow_the_leader", "contracts -k forel"], [
        ("p.bias * theta[last, c]) / p.sigma", "theta[last, c]) / p.sigma"),
        ("if k > 1 and not has_joined(context, c):\n            continue\n        if k == 1",
         "if False:\n            continue\n        if k == 1"),
        ("gap -= leader.alpha[i, c]", "gap += leader.alpha[i, c]"),
        ("weight if new > weight else new", "new"),
        ("(sum_before + alpha[i, c])", "sum_before"),
        ("if term * n > leader.p.tolerance:", "if term > leader.p.tolerance:"),
        ("if gap <= larger(leader.p.tolerance,", "if gap <= larger(1e3 * leader.p.tolerance,"),
        ("context.counters.skipped += q > 0.0", "context.counters.skipped += 1.0"),
        ("and max_abs <= leader.p.limit and", "and"),
    ]),
    ("_compiled/experts.pxd", "_compiled/dual_ascent", ["dual_ascent", "bounds"], [
        ("sqrt(8.0 * log", "sqrt(4.0 * log"),
        ("score > 0.5", "score >= 0.5"),
        ("(share if r.label else -share)", "share"),
        ("shared.dual_gain += loss", "shared.dual_gain += r.weight * loss"),
        ("after_step(&r, moved, context)", "after_step(&r, True, context)"),
    ]),
    ("_compiled/support.pyx", "_compiled/support", ["kernel_learners"], [
        ("v = self.scale[c] * self.self_product -", "v = self.self_product -"),
        ("/ (1.0 + beta * self.v[z.c[j]])", "/ 1.0"),
        ("fits &= tau == 0.0 or TINY <= fabs(tau)", "pass"),
        ("if novelty <= NOVELTY * self.self_product:", "if novelty <= 0.0:"),
        ("self.norm -= self.taus[j] * self.taus[j] * novelty", "pass"),
        ("while self.size > self.budget:", "while self.size >= self.budget:"),
        ("else change * self.norms[i]", "else change"),
        ("or change < least:", "or change <= least:"),
        ("and z.n == 1 and s.margin > 0.0", "and s.margin > 0.0"),
        ("step.tau != 0.0 or (context.task == REGRESSION and step.beta > 0.0)", "step.tau != 0.0"),
        ("model.commit(context) and not first", "model.commit(context)"),
        ("smaller(1.0, r.weight) * (distance", "(distance"),
    ]),
    ("_compiled/calibration.h", "_core", ["probabilities"], [
        ("fmax(fmin(score * score, 1.0) - now.ridge, 0.0)", "fmax(score * score - now.ridge, 0.0)"),
        ("now.seen / (now.seen + 3.0 * c)", "now.seen / (now.seen + c)"),
        ("fmax(1.0 + (now->hbb - ratio * now->hab), 1.0)", "fmax(1.0 + now->hbb, 1.0)"),
        ("more * (1.0 - now.a), 0.0", "more, 0.0"),
        ("        now.b += along[1];\n", ""),
        ("share = c * share * (1.0 - share);", "share = share * (1.0 - share);"),
        ("!(fabs(score) <= 1e150 && c > 0.0 && c <= large)", "!(c > 0.0)"),
        ("!(w > 0.0 && w <= large && fabs(share) <= large)", "0"),
        ("        && now.seen <= large)", ")"),
    ]),
    ("_compiled/rounds.pxd", "_core", ["probabilities"], [
        ("double weight = 1.0 if b.weights == NULL else b.weights[r.at]", "double weight = r.weight"),
        ("(context.counts[c] == 0.0 or (r.newcomer and c == r.label))", "context.counts[c] == 0.0"),
        ("if not r.newcomer:\n            update_pair", "if True:\n            update_pair"),
    ]),
    ("_compiled/steps.h", "_core", ["forgetting", "invariants", "kernels", "contracts -k check_sparse_is_dense",
                                    "contracts -k check_the_constant"], [
        ("s = V(min)(stored, V(set)(most));", "s = stored;"),
        ("V(mul)(xs, V(mul)(s, V(set)(growth)))", "V(mul)(xs, s)"),
        ("V(store)(at, V(min)(V(mul)(V(load)(at), factors), bounds))", "V(store)(at, V(mul)(V(load)(at), factors))"),
        ("potential ? x : g", "g"),
        ("V(mul)(beta, V(mul)(x, g)))), least)", "V(mul)(beta, V(mul)(x, g)))), V(set)(0))"),
        ("V(mul)(xs, g)))), V(set)(least))", "V(mul)(xs, g)))), V(set)(0))"),
        ("V(set)(x), V(load)(tau + c)", "V(set)(x), V(load)(tau)"),
        ("V(mul)(V(load)(tau + c), V(set)(x))", "V(mul)(V(load)(tau), V(set)(x))"),
    ]),
    ("_compiled/lanes.h", "_core", ["forgetting", "invariants", "kernels", "contracts -k check_sparse_is_dense"], [
        ("write_down_of_##real(at + 2 * (n - left), left, growth, most);", "(void)left;"),
        ("_mm_cmpneq_ps(x, _mm_setzero_ps())", "_mm_cmpeq_ps(x, x)"),
        ("root = _mm_max_pd(root, _mm_andnot_pd(_mm_set1_pd(-0.0), g));", ""),
    ]),
    ("_compiled/sparse.pxd", "_core", ["forgetting", "kernels", "contracts -k check_sparse_is_dense"], [
        ("<floating>p.growth * smaller(stored, <floating>p.stored_cap)", "<floating>p.growth * stored"),
        ("p.growth * double2_second(sums)", "double2_second(sums)"),
        ("most = double2_of(INFINITY, <floating>p.stored_cap)", "most = double2_of(INFINITY, INFINITY)"),
        ("for c in range(n_classes):\n                state[at + c]", "for c in range(1):\n                state[at + c]"),
        ("p.growth, p.stored_cap = 1.0, p.variance", "p.growth, p.stored_cap = 1.0, p.stored_cap"),
    ]),
    ("_core.pyx", "_core", ["forgetting", "kernels"], [
        ("if x != 0.0:                    # (a zero", "if True:                        # (a zero"),
        ("<floating>p.floor / <floating>p.growth)", "<floating>p.floor)"),
        ("        least /= <floating>p.growth\n", "        pass\n"),
        ("tau[j] * grown, k[j] * grown", "tau[j] * grown, k[j]"),
        ("if f.p.forgetting > 0.0:\n            find_most(f, z.c[j], work)",
         "if f.p.forgetting > 2.0:\n            find_most(f, z.c[j], work)"),
        ("if p.growth * p.tiny > p.floor:", "if False:"),
        ("context.counters.growth = p.growth", "context.counters.growth = context.counters.growth"),
        ("p.growth = (<const Counters*>&counters[0]).growth or 1.0", "p.growth = 1.0"),
    ]),
    ("_compiled/full.pxd", "_core", ["forgetting", "full_covariance"], [
        ("if f.growth[c] * f.most[c] * more > f.p.variance:", "if False:"),
        ("sigma[c, i, j] *= <floating>f.growth[c]", "sigma[c, i, j] *= 1"),
        ("            f.growth[c] = 1.0\n", "            f.growth[c] = f.growth[c]\n"),
        ("(f.D if p.forgetting > 0.0 else 1)", "1"),
        ("range(f.D - (f.p.bias == 0.0))", "range(f.D)"),
    ]),
    ("_compiled/small_calls.pxd", "_compiled/few_rows", ["small_calls"], [
        ("not (short_carry >> 31 or long_carry >> 63)", "not long_carry >> 63"),
        ("if indptr[0] != 0:", "if False:"),
        ("if indptr[i + 1] < indptr[i]:", "if False:"),
        ("if indptr[n] > n_data or not", "if not"),
        ("if indices[k] <= last:", "if indices[k] < last:"),
        ("            last = -1\n", "            last = -2\n"),
        ("if last >= n_features:", "if last > n_features:"),
    ]),
    ("_compiled/small_calls.pxd", "_compiled/model", ["small_calls"], [
        ("if not weights[i] >= 0.0:", "if False:"),
        ("width = max(y_width, class_width)", "width = min(y_width, class_width)"),
        ("PyBUF_ND | (PyBUF_WRITABLE if writable else 0)", "PyBUF_ND"),
        ("if overflow:", "if False:"),
        ("if PyLong_CheckExact(classes[c]):", "if True:"),
        ("PyUnicode_Compare(label, classes[c]) == 0", "PyUnicode_Compare(label, classes[c]) <= 0"),
    ]),
    ("_compiled/few_rows.pyx", "_compiled/few_rows", ["small_calls"], [
        ("or shape[1] != n_features:", "or False:"),
        ("if size != n + 1 or", "if"),
        (" or not X.columns.equals(columns):", ":"),
        ("or table.dtype.kind not in \"biuf\":", "or table.dtype.kind == \"c\":"),
        ("with np.errstate(over=\"ignore\"):", "if True:"),
    ]),
    ("_compiled/model.pyx", "_compiled/model", ["probabilities"], [(" and not self.are_seen", "")]),
    ("_compiled/model.pyx", "_compiled/model", ["small_calls"], [
        ("if estimator.get(call.names[i]) is not call.values[i]:", "if False:"),
        ("if not lock.take():", "if False:"),
        ("or \"_sparse_coef\" in estimator:", "or False:"),
        ("if not call.others[i].flags.writeable:", "if False:"),
        ("indptr, weights, targets, labels if", "indptr, NULL, targets, labels if"),
        ("weights == NULL or n_weights != n or", "weights == NULL or"),
        ("return len(<list>y) == n and match_list(", "return match_list("),
        ("size == n and match_numbers(<const int64_t*>", "match_numbers(<const int64_t*>"),
        ("if targets == NULL or size != n or", "if targets == NULL or"),
        (" or not are_finite(targets, n):", ":"),
        ("if known is None or known[0] is not estimator[\"feature_names_in_\"]:", "if known is None:"),
        ("if classes is not None and not is_the_same(classes, call.named):", "if False:"),
        (" and named.dtype.kind in \"biufU\":", ":"),
        ("all([type(label) in PLAIN for label in named])", "True"),
        ("named.copy()", "named"),
        ("named[:]", "named"),
        ("return len(given) == len(known) and", "return"),
        ("if type(given) is not type(known):", "if False:"),
        ("given.tobytes() == known.tobytes()", "True"),
        ("return given.dtype == known.dtype and", "return"),
        ("type(a) is type(b) and a == b", "a == b"),
        ("z = 0.0 if z != z else", "z ="),
        ("else -1e300 if z < -1e300 else z", "else z"),
        ("if pairs.shape[0] != k or", "if"),
    ]),
    ("_estimators/units.py", "", ["units"], [
        ("weights[0] > 0.0", "weights[0] >= 0.0"),
        ("lo + np.flatnonzero(", "np.flatnonzero("),
        ("weights[of_rows] > 0.0", "weights[of_rows] >= 0.0"),
        ("max((frexp(square)[1] >> 1) + exponent, -farthest)", "(frexp(square)[1] >> 1) + exponent"),
    ]),
    ("_hashing/hasher.pyx", "_hashing/hasher", ["text", "hostile_streams"], [
        ("0 if c[0] < 0x800 or 0xD800 <= c[0] < 0xE000 else 3", "0 if c[0] < 0x800 else 3"),
        ("not 0x10000 <= c[0] < 0x110000", "not 0x10000 <= c[0]"),
        ("if c not in (SIGMA, DOTTED_I)", "if c != DOTTED_I"),
        ("size = h if h < <uint32_t>0x80000000 else 0 - h", "size = h & 0x7fffffff"),
        ("column_of(self, other), sign_of(self, other)", "column_of(self, other), sign_of(self, h)"),
        ("if total > EXACT:", "if False:"),
        ("if norm == L2 and 0 < squares <= EXACT:", "if norm == L2 and 0 < squares:"),
        ("first < 0x80 or self.units[i].end - self.units[i].start > width(first)", "True"),
        ("if end - begin == size and memcmp(", "if 0 == memcmp("),
        ("if self.flags[i] and after < n and self.flags[after]:", "if self.flags[i]:"),
        ("if self.min_n > n_units - first:", "if self.min_n >= n_units - first:"),
        ("if self.table.n_used:                   #", "if False:                               #"),
        ("i = self.table.home_size\n        while slots[i].key != 0:", "i = self.table.home_size\n        while False:"),
        ("if not 0 <= first <= end <= size:", "if not 0 <= first <= end:"),
    ]),
    ("_hashing/lanes.h", "_hashing/hasher", ["text"], [
        ("| *before | after << 63;", "| *before;"),
        ("if (column < largest)", "if (0)"),
    ]),
]

# Mutants that change nothing one could see: (file, text as it stands) and the reason.
EQUIVALENT = {
    ("_core.pyx", "sums.score >= 0.0 else -1.0"): "a residual of 0 moves no weight, whatever its sign",
    ("_compiled/simplex.pyx", "if group.top > group.shift + SPREAD:"): "a joint learner's θ add up to 0: K is never far below it",
    ("_compiled/p_norm.pyx", "if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:"): "for m <= 0 the rule does not read the norm",
    ("_compiled/calibration.h", "!(fabs(score) <= 1e150 && c > 0.0 && c <= large)"): "what they make is left out at the end",
    ("_compiled/calibration.h", "!(w > 0.0 && w <= large && fabs(share) <= large)"): "what they make is left out at the end",
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
    """Return the first of these tests that fails, or None if all pass."""
    environment = {**os.environ, "PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    for name, *options in map(str.split, tests):
        file = next((tree / "tests").glob(f"*/test_{name}.py"))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(file), *options]
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
        for module in sorted({module for _, module, *_ in chosen if module}):
            compile_module(tree, module)
        if failed := first_failure(tree, sorted({name for _, _, tests, _, _ in chosen for name in tests})):
            sys.exit(f"mutate.py: the tests must pass before anything is changed: {failed}")
        for number, (file, module, tests, old, new) in enumerate(chosen, 1):
            begin = time.monotonic()
            path = tree / "src/onlinecls" / file
            built = tree / "src/onlinecls" / f"{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
            text, kept = path.read_text(), built.read_bytes() if module else b""
            path.write_text(text.replace(old, new))
            if module:
                compile_module(tree, module)
            failed = first_failure(tree, tests)
            path.write_text(text)
            if module:
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
