/* The diagonal update for several features or classes at a time: lanes.h includes this once for each type `vec` of LANES numbers
   `real`, whose operations are add_of_.., mul_of_.. and so on, here V(add), V(mul). Each number goes through the operations of
   `apply_step_feature` (_core.pyx) in their order, so that its bits are the same. */

/* (w, s): w += tau g, s /= 1 + beta x g, g = x s; of a potential rule (theta, s): theta += tau x */
ONLINECLS_INLINE void V(narrow)(int potential, vec x, vec tau, vec beta, vec least, vec* w, vec* s)
{
    vec g = V(mul)(x, *s);
    *w = V(add)(*w, V(mul)(tau, potential ? x : g));
    *s = V(max)(V(div)(*s, V(add)(V(set)(1), V(mul)(beta, V(mul)(x, g)))), least);
}

/* 16 bytes of features, whose slots are at p[0], p[1] .. */
ONLINECLS_INLINE void V(variances)(int potential, real* const* p, const real* x, real tau, real beta, real least)
{
    vec w, s;
    int i;
    for (i = 0; i < 16 / (int)sizeof(real); i += LANES) {
        V(load_pairs)(p + i, &w, &s);
        V(narrow)(potential, V(load)(x + i), V(set)(tau), V(set)(beta), V(set)(least), &w, &s);
        V(store_pairs)(p + i, w, s);
    }
}

/* the same where variances grow with the rows: s = growth min(stored, most), and `stored` is unchanged where x is 0 */
ONLINECLS_INLINE void V(growing)(real* const* p, const real* x, real tau, real beta, real least, real growth, real most)
{
    vec w, s, stored, xs, g;
    int i;
    for (i = 0; i < 16 / (int)sizeof(real); i += LANES) {
        V(load_pairs)(p + i, &w, &stored);
        xs = V(load)(x + i);
        s = V(min)(stored, V(set)(most));
        g = V(mul)(xs, V(mul)(s, V(set)(growth)));
        w = V(add)(w, V(mul)(V(set)(tau), g));
        s = V(max)(V(div)(s, V(add)(V(set)(1), V(mul)(V(set)(beta), V(mul)(xs, g)))), V(set)(least));
        V(store_pairs)(p + i, w, V(where)(xs, s, stored));
    }
}

/* (w, G): w += eta g / (delta + sqrt(G + g g)), G += g g, g = tau x */
ONLINECLS_INLINE void V(rates)(real* const* p, const real* x, real tau, double eta, double delta)
{
    vec w, G, g;
    int i;
    for (i = 0; i < 16 / (int)sizeof(real); i += LANES) {
        V(load_pairs)(p + i, &w, &G);
        g = V(mul)(V(set)(tau), V(load)(x + i));
        V(store_pairs)(p + i, V(add)(w, V(rated)(G, g, eta, delta)), V(add)(G, V(mul)(g, g)));
    }
}

/* (z, n): where g = tau x is not 0, n grows by g g, to tiny at least, and z by g and the weight's part */
ONLINECLS_INLINE void V(proximal)(real* const* p, const real* x, real tau, double threshold, double delta, real tiny)
{
    vec z, n, g, grown;
    int i;
    for (i = 0; i < 16 / (int)sizeof(real); i += LANES) {
        V(load_pairs)(p + i, &z, &n);
        g = V(mul)(V(set)(tau), V(load)(x + i));
        grown = V(max)(V(add)(n, V(mul)(g, g)), V(set)(tiny));
        V(store_pairs)(p + i, V(where)(g, V(add)(z, V(pulled)(z, n, grown, g, threshold, delta)), z), V(where)(g, grown, n));
    }
}

/* n pairs side by side: the second numbers grow, to most at most. Returns how many pairs are left. */
ONLINECLS_INLINE size_t V(write_down)(real* at, size_t n, real growth, real most)
{
#if LANES > 1
    const vec factors = V(alternate)(1, growth), bounds = V(alternate)((real)INFINITY, most);
    for (; 2 * n >= LANES; n -= LANES / 2, at += LANES)
        V(store)(at, V(min)(V(mul)(V(load)(at), factors), bounds));
#else
    for (; n; n--, at += 2)
        at[1] = V(min)(growth * at[1], most);
#endif
    return n;
}

/* All classes at one feature, from c on: n first slots w, n second slots s, and for each class its tau and beta (0: no change).
   Returns the first class that is left. */
ONLINECLS_INLINE ptrdiff_t V(gaussian_classes)(real* w, real* s, const real* tau, const real* beta, ptrdiff_t c, ptrdiff_t n, real x, real least)
{
    vec first, second;
    for (; c + LANES <= n; c += LANES) {
        first = V(load)(w + c), second = V(load)(s + c);
        V(narrow)(0, V(set)(x), V(load)(tau + c), V(load)(beta + c), V(set)(least), &first, &second);
        V(store)(w + c, first);
        V(store)(s + c, second);
    }
    return c;
}

/* w += tau x of all classes at one feature */
ONLINECLS_INLINE ptrdiff_t V(additive_classes)(real* w, const real* tau, ptrdiff_t c, ptrdiff_t n, real x)
{
    for (; c + LANES <= n; c += LANES)
        V(store)(w + c, V(add)(V(load)(w + c), V(mul)(V(load)(tau + c), V(set)(x))));
    return c;
}

#undef vec
#undef real
#undef LANES
#undef V
