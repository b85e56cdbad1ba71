"""The rules, which turn a row's few numbers (Stats) into a step (Step). Mathematics only: O(1), double, no data.

A rule sees the signed example z = y x, in multiclass z = phi(x, y) - phi(x, r) for the top wrong class r, in regression
z = sgn(y - s) x and the margin ε - |y - s|: its distance from the wrong side. Its loss is the wanted margin (p.margin:
1 for classes, 0 for conservative rules and regression) less m, so that one rule serves every task.
To add one: its name in Rule, its function with equation and source, its line in apply_rule; then its row in _registry.py.
"""
from libc.math cimport NAN, exp, log1p, sqrt


cpdef enum Rule:            # (in lower case, the names in the registry's rows)
    PERCEPTRON
    PA1
    PA2
    ADAGRAD
    AGGRESSIVE_P_NORM
    AROW
    LEAST_SQUARES
    CW_STDEV
    CW_VARIANCE
    SCW1
    SCW2
    SOP
    NAROW
    MULTIPLICATIVE
    MULTIPLICATIVE_CENTRE
    LOG_LOSS


cpdef enum Trigger:         # when a rule may take a step
    LOSS                    # m < 1: the margin alone decides
    LOOKAHEAD_LOSS          # m' < 1, the margin with the row already in Σ
    LOOKAHEAD_MISTAKE       # m' <= 0
    STDEV                   # m < φ √v
    VARIANCE                # m < φ v
    OWN_MARGIN              # m < margin, a parameter
    EVERY_ROW               # whatever the margin


cpdef enum Geometry:        # what a feature's two slots hold -> the weight that predicts (the loops: _core and _compiled)
    ADDITIVE                # w, none -> w
    GAUSSIAN                # w, its variance σ -> w
    # (It is not GAUSSIAN with s = 1: reading every σ as s min(b, σ_0/s) would cost learners that do not forget 14 %.)
    FORGETTING              # w, b = σ/s -> w  (σ grows with s, up to the first variance σ_0)
    POTENTIAL               # θ, σ -> σθ
    MIRROR                  # w, G = Σ g² -> w
    DUAL                    # z = -Σ g, G -> η soft(z, λt) / (δ + √G)
    FULL_GAUSSIAN           # w, none -> w  (Σ: full.pxd)
    FULL_POTENTIAL          # w = Σθ, none -> w  (Σ: full.pxd)
    P_NORM                  # θ, ρ -> ∇f*(θ)  (p_norm.pxd)
    CENTRE                  # u, none -> a u  (ball.pxd)
    SINH                    # r, θ -> (W / Z) r  (simplex.pxd)
    EXP                     # r, θ -> (W / Z) r  (simplex.pxd; x alone, not x and -x)
    PROXIMAL                # z = Σ (σ w - g), n = Σ g² -> η soft(z, λ) / (δ + √n)  (σ = (√n - √n before)/η)
    KERNEL                  # no features, but the coefficients of rows (_wings/kernels)
    GAUSSIAN_KERNEL         # and Σ on them


cpdef enum Costs:           # how the weight of a class enters (`weigh_class` in _compiled/rounds.pxd)
    WEIGHT                  # it multiplies those of its rows
    MARGIN                  # it multiplies the wanted margin by its root, and the weights of its rows by the rest
    HARD_MARGIN             # the same, for a rule that takes the whole step at any weight from 1 on


ctypedef struct Slots:      # what the loops of _core ask of a geometry
    int n                   # slots of a feature and vector; 0: the geometry has loops of its own
    bint weight             # the first one is the weight (else it is computed, see `weight_of`)
    bint variance           # the second one is a variance, as it is or in units of s
    bint squares            # the second one is a sum of squares
    bint along_sigma        # a step moves the weights along Σx, not along x


cdef inline Slots slots_of(int geometry) noexcept nogil:
    """Return a geometry's row of this table (a constant where the geometry is one)."""
    if geometry == ADDITIVE:
        return Slots(1, True, False, False, False)
    elif geometry == GAUSSIAN or geometry == FORGETTING:
        return Slots(2, True, True, False, True)
    elif geometry == POTENTIAL:
        return Slots(2, False, True, False, False)
    elif geometry == MIRROR:
        return Slots(2, True, False, True, False)
    elif geometry == DUAL or geometry == PROXIMAL:
        return Slots(2, False, False, True, False)
    elif geometry == FULL_GAUSSIAN or geometry == FULL_POTENTIAL:
        return Slots(1, True, False, False, True)
    return Slots(0, False, False, False, False)


ctypedef struct Params:     # one struct, so that loops pass one pointer; its fields are grouped by what reads them
    # a rule
    int rule
    int trigger
    double margin           # the least margin without loss: 0 or 1 (multiplicative: any)
    double slack            # PA in cycles: the largest loss without a step
    double epsilon          # regression: the largest residual without loss
    double C
    double r                # of SOP; AROW: a row's variance in the update of the mean,
    double r2               # and in that of the covariance
    double b
    double phi              # CW: the normal quantile of the confidence
    double radius
    # a rule and its geometry
    double eta0
    double norm_bound       # multiplicative: W, the largest sum of the weights' absolute values
    double variance         # the initial variance, which no variance ever exceeds
    # a geometry
    int geometry
    double scale            # s: rows are learnt as z = x / s; 0: the rows tell it
    double constant         # value of the constant feature in z; 0: no intercept, < 0: the rows tell it
    double bias             # its value beside x, c s
    double delta
    double l1
    double l1_sum           # the threshold of sums of gradients. Dual averaging: λt, l1 times the rounds so far; proximal: λ
    double forgetting       # λ: variances grow by 1/(1 - λ) a row, up to the initial one
    double growth           # s: the factor by which all variances have grown since they were last written down
    double stored_cap       # forgetting: σ_0/s, where stored variances are capped
    double floor            # the least variance
    double power            # p-norm: p
    double root             # p-norm: (p - 1) / 2^squarings
    int squarings
    double sigma            # dual ascent: σ,
    int schedule            # how it follows the rounds,
    int joint               # and whether several classes are one problem
    # a pass, when it begins
    int open_classes        # labels join as they appear
    int balanced            # class_weight="balanced" from running counts
    int costs               # one of Costs
    int average_from        # rounds before the average starts; < 0: no average
    int level               # regression: deviations from the mean of the targets so far are learnt
    # of the dtype
    double spacing          # the spacing of its numbers at 1
    double limit            # the largest number a model may hold
    double tiny             # its smallest normal number


ctypedef struct Stats:
    double margin           # m = w.z; regression: ε - |y - s|
    double q                # ||z||^2
    double v                # z'Σz, of a learner with variances; else 0
    double weight           # c, the row's weight
    double shift            # what the weight of the row's class adds to the wanted margin: the margin has it subtracted
    double norm_p2          # ||z||_p², of a p-norm learner
    double width            # ρ, of a multiplicative learner


ctypedef struct Step:
    double tau              # the mean (or θ, or the negative gradient) moves along tau z
    double beta             # Σ^-1 += beta z z', on the diagonal


cdef inline bint is_wrong(const Stats* s, const Params* p) noexcept nogil:
    # Of rules whose step does not depend on the loss: m <= 0, or for aggressive ones m < 1.
    return (s.margin <= 0.0) | (s.margin < p.margin)


cdef inline Step perceptron(const Stats* s, const Params* p) noexcept nogil:
    # Tutorial III; NAROW section 2:  m <= 0:  w += η c z.   Tutorial, DA1 (aggressive):  m < 1.
    return Step(p.eta0 * s.weight if is_wrong(s, p) else 0.0, 0.0)


cdef inline Step pa1(const Stats* s, const Params* p) noexcept nogil:
    # PA-I, tutorial III (C = 1/σ), NAROW 4.1:  τ = min(C c, l / ||z||²);  C = inf is PA (PA section 3).
    cdef Step step = Step(0.0, 0.0)
    if p.margin - s.margin > p.slack:
        step.tau = min((p.margin - s.margin) / s.q, p.C * s.weight)
    return step


cdef inline Step pa2(const Stats* s, const Params* p) noexcept nogil:
    # PA-II, PA section 5 (γ = 1/(2C)):  τ = l / (||z||² + 1/(2 C c));  C = inf is PA.
    cdef Step step = Step(0.0, 0.0)
    if p.margin - s.margin > p.slack:
        step.tau = (p.margin - s.margin) / (s.q + 0.5 / (p.C * s.weight))
    return step


cdef inline Step multiplicative(const Stats* s, const Params* p) noexcept nogil:
    # PA section 6:  w_j <- w_j e^(τ v_j) / Z,  τ = 4 l / ρ²,  v = W z, whose components span ρ: θ += τ W z.
    # A hard constraint: a row's weight can only shorten the step.
    cdef Step step = Step(0.0, 0.0)
    if s.margin < p.margin:
        step.tau = min(s.weight, 1.0) * (4.0 * (p.margin - s.margin) / s.width) * (p.norm_bound / s.width)
    return step


cdef inline Step multiplicative_centre(const Stats* s, const Params* p) noexcept nogil:
    # PA section 6, uniclass:  τ = l / (8 ||v||_∞²),  v = W (x - w) / n,  n = ||x - w||: θ += τ W (x - w) / n, with W ||x - w||_∞
    # in place of v.
    cdef Step step = Step(0.0, 0.0)
    if s.margin < 0.0:
        step.tau = min(s.weight, 1.0) * (-s.margin / s.width) * 0.125 * p.norm_bound * ((p.epsilon - s.margin) / s.width)
    return step


cdef inline Step aggressive_p_norm(const Stats* s, const Params* p) noexcept nogil:
    # NAROW 4.1:  m < 1:  θ += η c z,  η = 1 where m <= 0, else clip((R²/2 - m) / ||z||_p², 0, 1).
    cdef Step step = Step(0.0, 0.0)
    cdef double missing = 0.5 * p.radius * p.radius - s.margin
    if s.margin <= 0.0:
        step.tau = s.weight
    elif s.margin < 1.0 and missing > 0.0:
        step.tau = s.weight * (missing / s.norm_p2 if missing < s.norm_p2 else 1.0)
    return step


cdef inline Step adagrad(const Stats* s, const Params* p) noexcept nogil:
    # NAROW's baseline [9]:  m < 1:  the negative gradient c z;  the geometry keeps the sum of its squares.
    cdef Step step = Step(0.0, 0.0)
    if s.margin < p.margin:
        step.tau = s.weight
    return step


cdef inline Step log_loss(const Stats* s, const Params* p) noexcept nogil:
    # FTRL-proximal, McMahan et al. 2013, Algorithm 1:  always the negative gradient of c log(1 + e^-m), which is c (1 - p) z with
    # p = 1 / (1 + e^-m). (What would be a subnormal number is none.)
    cdef double tau = s.weight / (1.0 + exp(s.margin))
    return Step(tau if tau >= p.tiny else 0.0, 0.0)


cdef inline double loss_of(const Stats* s, const Params* p) noexcept nogil:
    # What a row's margin lacks, which is its loss by all rules but one; below 0: none.
    if p.rule == LOG_LOSS:
        return log1p(exp(-s.margin)) if s.margin > 0.0 else log1p(exp(s.margin)) - s.margin
    return p.margin - s.margin


cdef inline Step least_squares(const Stats* s, const Params* p) noexcept nogil:
    # Recursive least squares, which is AROW for regression (AROW section 7):  w += l/(v + r1) Σz,  Σ^-1 += z z'/r2, always;
    # a row's weight divides r1 = 1/(2λ1) and r2 = 1/(2λ2) of AROW's eq. 1, usually the same r.
    return Step((p.margin - s.margin) / (s.v + p.r / s.weight), s.weight / p.r2)


cdef inline Step arow(const Stats* s, const Params* p) noexcept nogil:
    # AROW eqs 7-9:  m < 1:  the least squares step towards a margin of 1.
    cdef Step step = Step(0.0, 0.0)
    if s.margin < p.margin:
        step = least_squares(s, p)
    return step


cdef inline double stdev_alpha(const Stats* s, const Params* p) noexcept nogil:
    # Exact convex CW:  α = (-mψ + √(m²φ⁴/4 + vφ²ζ)) / (vζ),  ψ = 1 + φ²/2,  ζ = 1 + φ².
    cdef double phi2 = p.phi * p.phi, psi = 1.0 + 0.5 * phi2, zeta = 1.0 + phi2, m = s.margin
    return (-m * psi + sqrt(0.25 * m * m * phi2 * phi2 + s.v * phi2 * zeta)) / (s.v * zeta)


cdef inline Step stdev_step(double alpha, const Stats* s, const Params* p) noexcept nogil:
    # Exact convex CW:  α > 0:  w += α Σz,  Σ^-1 += (αφ/√u) z z'.
    # √u = ½(-g + √(g² + 4v)) with g = αvφ cancels; 2v/(g + √(g² + 4v)) is the same number and does not.
    cdef Step step = Step(0.0, 0.0)
    cdef double g, root_u
    if alpha > 0.0:
        g = alpha * s.v * p.phi
        root_u = 2.0 * s.v / (g + sqrt(g * g + 4.0 * s.v))
        step.tau = alpha
        step.beta = alpha * p.phi / root_u
    return step


cdef inline Step cw_stdev(const Stats* s, const Params* p) noexcept nogil:
    # The constraint is hard, so that a row's weight can only shorten the step: times min(1, c).
    cdef Step step = stdev_step(stdev_alpha(s, p), s, p)
    step.tau *= min(s.weight, 1.0)
    step.beta *= min(s.weight, 1.0)
    return step


cdef inline Step scw1(const Stats* s, const Params* p) noexcept nogil:
    # SCW-I, Wang, Zhao, Hoi 2012, proposition 1:  CW's α, at most C c.
    return stdev_step(min(stdev_alpha(s, p), p.C * s.weight), s, p)


cdef inline Step scw2(const Stats* s, const Params* p) noexcept nogil:
    # SCW-II, same paper, proposition 2:  n = v + 1/(2Cc),  γ = φ√(φ²m²v² + 4nv(n + vφ²)),
    # α = [(γ - b) / (2n(n + vφ²))]+,  b = m(2n + φ²v).  For b > 0 that cancels; 2(φ²v - m²) / (γ + b) is the same number.
    cdef double phi2 = p.phi * p.phi, m = s.margin, n = s.v + 0.5 / (p.C * s.weight), k = n + s.v * phi2, b, gamma
    b = m * (2.0 * n + phi2 * s.v)
    gamma = p.phi * sqrt(phi2 * m * m * s.v * s.v + 4.0 * n * s.v * k)
    if b > 0.0:
        return stdev_step(2.0 * (phi2 * s.v - m * m) / (gamma + b), s, p)
    return stdev_step((gamma - b) / (2.0 * n * k), s, p)


cdef inline Step cw_variance(const Stats* s, const Params* p) noexcept nogil:
    # CW 2008:  α = [(-(1 + 2φm) + √((1 + 2φm)² - 8φ(m - φv))) / (4φv)]+;  w += α Σz,  Σ^-1 += 2αφ z z'.
    cdef Step step = Step(0.0, 0.0)
    # For g = 1 + 2φm > 0 the difference cancels; 2(φv - m) / (v(g + √)) is the same number and does not.
    cdef double g = 1.0 + 2.0 * p.phi * s.margin, alpha, root
    root = sqrt(g * g - 8.0 * p.phi * (s.margin - p.phi * s.v))
    if g > 0.0:
        alpha = 2.0 * (p.phi * s.v - s.margin) / (s.v * (g + root))
    else:
        alpha = (root - g) / (4.0 * p.phi * s.v)
    if alpha > 0.0:
        step.tau = alpha * min(s.weight, 1.0)
        step.beta = 2.0 * alpha * p.phi * min(s.weight, 1.0)
    return step


cdef inline Step confidence_rule(const Stats* s, const Params* p) noexcept nogil:
    if p.rule == CW_STDEV:
        return cw_stdev(s, p)
    elif p.rule == CW_VARIANCE:
        return cw_variance(s, p)
    elif p.rule == SCW1:
        return scw1(s, p)
    return scw2(s, p)


cdef inline Step confidence(const Stats* s, const Params* p) noexcept nogil:
    # A larger margin for a class moves the mean alone: Σ narrows as without it (AROW's never depends on the margin's size).
    cdef Step step = confidence_rule(s, p)
    cdef Stats without = s[0]
    if s.shift != 0.0:
        without.margin += s.shift
        step.beta = confidence_rule(&without, p).beta
    return step


# The potential rules come in two halves: precision() is what Σ^-1 gains if the row triggers, the geometry computes the look-ahead
# margin m' = z'Σ_tθ and puts it in Stats.margin, and the second half decides by it.

cdef inline double precision(const Stats* s, const Params* p) noexcept nogil:
    # SOP, NAROW 4.2:  Σ^-1 += z z'/r.   NAROW 5:  Σ^-1 += ((bχ - 1)/χ) z z' if bχ > 1, with χ = v; else r_t = ∞: nothing.
    if p.rule == NAROW:
        return (p.b * s.v - 1.0) / s.v if p.b * s.v > 1.0 else 0.0
    return 1.0 / p.r


cdef inline Step sop(const Stats* s, const Params* p) noexcept nogil:
    # Second-order Perceptron, NAROW 4.2:  m' <= 0:  θ += c z,  w = Σθ.   Potential framework, NAROW Fig. 1 (aggressive SOP: 4.2,
    # 4.3; NAROW: 5):  m' < 1.
    return Step(s.weight if is_wrong(s, p) else 0.0, precision(s, p))


cdef inline bint margin_suffices(double margin, const Params* p) noexcept nogil:
    """Return True if the margin alone rules out a step: the variances need not be read then. (Branch-free.)"""
    return (margin >= 1.0) & (margin >= p.margin) & (p.trigger == LOSS)


cdef inline bint never_steps(const Stats* s, const Params* p) noexcept nogil:
    """Return True if no variance up to s.v leads to a step. For a potential rule s.margin is the least possible m'."""
    if p.trigger == STDEV:
        return s.margin >= p.phi * sqrt(s.v)
    elif p.trigger == VARIANCE:
        return s.margin >= p.phi * s.v
    elif p.trigger == LOOKAHEAD_MISTAKE:
        return s.margin > 0.0
    return s.margin >= 1.0 and s.margin >= p.margin


cdef inline Step apply_rule(const Stats* s, const Params* p) noexcept nogil:
    if p.rule == PERCEPTRON:
        return perceptron(s, p)
    elif p.rule == PA1:
        return pa1(s, p)
    elif p.rule == PA2:
        return pa2(s, p)
    elif p.rule == ADAGRAD:
        return adagrad(s, p)
    elif p.rule == AGGRESSIVE_P_NORM:
        return aggressive_p_norm(s, p)
    elif p.rule == AROW:
        return arow(s, p)
    elif p.rule == LEAST_SQUARES:
        return least_squares(s, p)
    elif p.rule == CW_STDEV or p.rule == CW_VARIANCE or p.rule == SCW1 or p.rule == SCW2:
        return confidence(s, p)
    elif p.rule == MULTIPLICATIVE:
        return multiplicative(s, p)
    elif p.rule == MULTIPLICATIVE_CENTRE:
        return multiplicative_centre(s, p)
    elif p.rule == LOG_LOSS:
        return log_loss(s, p)
    elif p.rule == SOP or p.rule == NAROW:
        return sop(s, p)
    return Step(NAN, NAN)       # (no model has room for the step of a rule that is missing here)
