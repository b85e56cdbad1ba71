"""The slow twins of the kernel learners: dual forms over a Gram matrix, in the papers' symbols, one row at a time.

A twin is shown the numbers of rows of a Gram matrix G (the constant feature in it), never the rows. It keeps S, the numbers of
its support vectors, and over them, in order,

    mu = sum_i a_i x_i,     Sigma = I + sum_ij B_ij x_i x_j'          (AROW, Lemma 1)

`features` turns a Gram matrix into vectors with those inner products, on which the linear twins of reference.py run.
"""

import numpy as np

NOVELTY = 1e-6


def features(G):
    """Rows whose inner products are G."""
    values, vectors = np.linalg.eigh(G)
    return vectors * np.sqrt(np.maximum(values, 0.0))


class Dual:
    """algorithm: perceptron, pa1, pa2, sop, aggressive_sop, arow; for targets pa1, pa2, arow."""

    def __init__(self, algorithm, G, budget=np.inf, project=False, merge=True, C=1.0, r=1.0, eta0=1.0, epsilon=0.1):
        self.algorithm, self.G, self.budget, self.project, self.merge = algorithm, G, budget, project, merge
        self.C, self.r, self.eta0, self.epsilon = C, r, eta0, epsilon
        self.S, self.a, self.B = [], np.zeros(0), np.zeros((0, 0))
        self.t = self.n_updates = self.n_mistakes = self.n_dropped = 0

    # --- inner products with row i

    def mean(self, i):
        return float(self.a @ self.G[self.S, i])

    def variance(self, i):
        k = self.G[self.S, i]
        return float(self.G[i, i] + k @ self.B @ k)

    # --- moving

    def move(self, i, tau, beta=0.0, along_sigma=False):
        """mu += tau x_i or tau Sigma x_i; Sigma^-1 += beta x_i x_i'."""
        v, k = self.variance(i), self.G[self.S, i]
        g, at = (self.B @ k if along_sigma else np.zeros(len(self.S))), None
        if self.merge and i in self.S:
            at = self.S.index(i)
        elif self.project and len(self.S):
            e = np.linalg.solve(self.G[np.ix_(self.S, self.S)], k)
            if self.G[i, i] - e @ k <= NOVELTY * self.G[i, i]:
                g, at = g + e, -1
        if at is None:
            self.S.append(i)
            self.a, self.B, g, at = np.append(self.a, 0.0), np.pad(self.B, (0, 1)), np.append(g, 0.0), len(self.S) - 1
        if at >= 0:
            g[at] += 1.0
        self.a = self.a + tau * g
        self.B = self.B - beta / (1 + beta * v) * np.outer(g, g)
        self.n_updates += 1
        while len(self.S) > self.budget:
            self.drop()

    def drop(self):
        K = self.G[np.ix_(self.S, self.S)]
        if not self.project:
            j = int(np.argmin(self.a**2 * np.diag(K)))
            T = np.delete(np.eye(len(self.S)), j, axis=0)
        else:  # the loss of mu's norm when x_j is replaced by its projection on the others
            losses = []
            for j in range(len(self.S)):
                rest = [n for n in range(len(self.S)) if n != j]
                residual = K[j, j] - K[j, rest] @ np.linalg.solve(K[np.ix_(rest, rest)], K[rest, j])
                losses.append(self.a[j] ** 2 * residual)
            j = int(np.argmin(losses))
            rest = [n for n in range(len(self.S)) if n != j]
            T = np.zeros((len(rest), len(self.S)))
            T[:, rest] = np.eye(len(rest))
            T[:, j] = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, j])
        self.a, self.B = T @ self.a, T @ self.B @ T.T
        del self.S[j]
        self.n_dropped += 1

    # --- the two tasks

    def classify(self, i, y, c=1.0):
        s, chi, q = self.mean(i), self.variance(i), self.G[i, i]
        self.t += 1
        self.n_mistakes += (s > 0) != (y > 0)
        m, loss = y * s, max(0.0, 1.0 - y * s)
        if self.algorithm == "perceptron" and m <= 0:
            self.move(i, self.eta0 * c * y)
        elif self.algorithm == "pa1" and loss > 0:
            self.move(i, min(self.C * c, loss / q) * y)
        elif self.algorithm == "pa2" and loss > 0:
            self.move(i, loss / (q + 1 / (2 * self.C * c)) * y)
        elif self.algorithm == "arow" and loss > 0:
            self.move(i, loss / (chi + self.r / c) * y, c / self.r, along_sigma=True)
        elif self.algorithm.endswith("sop"):
            lookahead = m * self.r / (self.r + chi)
            if lookahead <= 0 or (self.algorithm == "aggressive_sop" and lookahead < 1):
                # theta += c y x with w = Sigma theta; Sigma_t x = Sigma x r/(r + chi), Sigma_t theta = w - Sigma x s/(r + chi)
                self.move(i, (c * y * self.r - s) / (self.r + chi), 1 / self.r, along_sigma=True)

    def regress(self, i, y, c=1.0):
        s, v, q = self.mean(i), self.variance(i), self.G[i, i]
        self.t += 1
        if self.algorithm == "arow":
            self.move(i, (y - s) / (v + self.r / c), c / self.r, along_sigma=True)
            return
        loss = max(0.0, abs(y - s) - self.epsilon)
        if loss > 0:
            tau = min(self.C * c, loss / q) if self.algorithm == "pa1" else loss / (q + 1 / (2 * self.C * c))
            self.move(i, tau * np.sign(y - s))
