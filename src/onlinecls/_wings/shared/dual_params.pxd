"""Parameters of dual ascent and of learners like it, and the numbers of a model that are not arrays of weights."""

cdef enum:
    HINGE, LOG_LOSS, ABSOLUTE_LOSS, SQUARED_LOSS
    DA1 = 1, DA2 = 2, DA3 = 3
    FIXED = 0, AUTO, STRONGLY_CONVEX, SQRT     # the schedule of σ: OGD is DA1 with σ = λt, or steps η/√t

ctypedef struct AscentParams:
    int experts             # Hedge
    int entropic
    int is_signed           # entropic: EG±, else the probability simplex; Hedge: advice in [-1, 1]
    int loss
    int update
    int schedule
    int joint               # multiclass: one joint learner
    double margin           # γ
    double sigma            # σ; OGD: λ or η; Hedge: η
    double bound            # W
    double constant         # see Params of _rules.pxd
    double bias
    double limit

ctypedef struct Shared:     # the numbers of a model that all of its groups share
    double dual_gain        # the losses' part of the dual value: D = gain - f*(θ). Hedge: the expected loss
    double lipschitz        # the largest dual norm of a (weighted) step c W Δφ so far
    double sigma            # σ of the last round
