"""What the kernels of dual ascent, of its lines and of experts share: the numbers of a model, and parameters."""

cdef enum:                  # slots of books
    GAIN                    # what the losses' conjugates give the dual value: D = GAIN - f*(θ)
    LIPSCHITZ               # the largest dual norm of a (weighted) step c W Δφ so far
    SIGMA                   # σ of the last round
    N_SHARED
    AGES = 0                # and of each group: the sum of κ over the rounds of the average (entropic: since the last scale)
    ENERGY                  # Euclidean: ||θ||^2
    Z_HIGH                  # entropic: Z, as the sum of two doubles
    Z_LOW
    SHIFT                   # K
    PEAK                    # the largest Z since the numbers were last scaled
    TOP                     # the largest |u| since then
    N_GROUP

cdef enum:
    HINGE, LOG_LOSS, ABSOLUTE_LOSS, SQUARED_LOSS
    DA1 = 1, DA2 = 2, DA3 = 3
    FIXED = 0, AUTO, STRONGLY_CONVEX, SQRT     # how σ goes: OGD is DA1 with σ = λt, or steps η/√t

ctypedef struct Params:
    int entropic
    int loss
    int update
    int schedule
    int joint               # multiclass: one joint learner
    int open_classes
    int balanced
    int average_from
    double margin           # γ
    double sigma            # σ; OGD: λ or η
    double bound            # W
    double bias
    double limit
