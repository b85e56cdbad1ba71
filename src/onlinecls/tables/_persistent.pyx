"""A map and an array of records of which changed copies are made at a cost that does not depend on their size.

A copy shares what has not changed with the one that it was made of, which stays as it is: who reads it in another thread sees all
of one moment.
"""
from libc.string cimport memcpy, memset

import numpy as np

cdef enum:
    WAYS = 16           # children of a node of a map
    MOST = 16           # entries of a leaf of a map
    DEEPEST = 12        # nodes above a leaf at most: below, entries whose hashes are alike share a leaf
    N_NUMBERS = 4       # numbers of a record
    IN_LEAF = 16        # records of a leaf
    IN_BRANCH = 64      # leaves of a branch


# --- maps ----------------------------------------------------------------------------------------------------------------------


cdef object put(object node, size_t h, object key, object value, int depth):
    """Return the node with an entry; h : the part of its hash that no node above has used."""
    cdef list children
    if type(node) is tuple:
        children = list(<tuple>node)
        children[h % WAYS] = put(children[h % WAYS], h // WAYS, key, value, depth + 1)
        return tuple(children)
    cdef dict leaf = (<dict>node).copy()
    leaf[key] = value
    if len(leaf) <= MOST or depth == DEEPEST:
        return leaf
    children = [{} for _ in range(WAYS)]
    for each, its in leaf.items():
        (<dict>children[(<size_t>hash(each) >> 4 * depth) % WAYS])[each] = its
    return tuple(children)


cdef class Map:
    """Map keys to values other than None. It never changes: `with_item` returns another one."""

    def __init__(self, items=()):
        self.root, self.n = {}, 0
        for key, value in items:
            self.root = put(self.root, <size_t>hash(key), key, value, 0)
            self.n += 1

    def __reduce__(self):
        return Map, (list(self.items()),)

    def __len__(self):
        return self.n

    def __contains__(self, key):
        return self.find(key) is not None

    cdef object find(self, object key):
        """Return the value of a key, None if there is none."""
        cdef size_t h = <size_t>hash(key)
        node = self.root
        while type(node) is tuple:
            node = (<tuple>node)[h % WAYS]
            h //= WAYS
        return (<dict>node).get(key)

    def get(self, key):
        """Return the value of a key, None if there is none."""
        return self.find(key)

    def items(self):
        """Yield pairs of a key and its value, in no order."""
        nodes = [self.root]
        while nodes:
            node = nodes.pop()
            if type(node) is tuple:
                nodes.extend(node)
            else:
                yield from node.items()

    def with_item(self, key, value):
        """Return a map with this value of a key, and all others as they are."""
        cdef Map found = Map.__new__(Map)
        found.n = self.n + (self.find(key) is None)
        found.root = put(self.root, <size_t>hash(key), key, value, 0)
        return found


# --- records -------------------------------------------------------------------------------------------------------------------


cdef class Leaf:
    cdef object owner
    cdef double[IN_LEAF][N_NUMBERS] numbers


cdef class Branch:
    cdef object owner
    cdef list leaves


cdef class Records:
    """Hold records, four numbers each. An object of which there are copies must not change any more; they may.

    owner : a token of the branches and leaves that this object has made; others are copied before they are changed.
    """

    def __init__(self, const double[:, ::1] numbers=np.empty((0, N_NUMBERS))):
        cdef Py_ssize_t i
        self.branches, self.owner, self.owns_branches, self.n = [], object(), True, 0
        for i in range(len(numbers)):
            self.add()
            memcpy(self.to_change(i), &numbers[i, 0], N_NUMBERS * sizeof(double))

    def __reduce__(self):
        return Records, (self.array(),)

    def copy(self):
        """Return records that may change while these do not."""
        cdef Records found = Records.__new__(Records)
        found.branches, found.owner, found.owns_branches, found.n = self.branches, object(), False, self.n
        return found

    def add(self):
        """Add a record of zeros, and return its place."""
        cdef Leaf leaf
        cdef Branch branch
        if self.n % (IN_LEAF * IN_BRANCH) == 0:
            branch = Branch()
            branch.owner, branch.leaves = self.owner, []
            self.branches = [*self.branches, branch]
            self.owns_branches = True
        if self.n % IN_LEAF == 0:
            leaf = Leaf()
            leaf.owner = self.owner
            (<Branch>self.branch_to_change(self.n // (IN_LEAF * IN_BRANCH))).leaves.append(leaf)
        self.n += 1
        memset(self.to_change(self.n - 1), 0, N_NUMBERS * sizeof(double))
        return self.n - 1

    cdef const double* at(self, Py_ssize_t i):
        """Return a record, to be read."""
        cdef Branch branch = <Branch>self.branches[i // (IN_LEAF * IN_BRANCH)]
        return &(<Leaf>branch.leaves[i // IN_LEAF % IN_BRANCH]).numbers[i % IN_LEAF][0]

    cdef double* to_change(self, Py_ssize_t i) except NULL:
        """Return a record, to be written before the object is shared."""
        cdef Branch branch = <Branch>self.branches[i // (IN_LEAF * IN_BRANCH)]
        cdef Leaf leaf = <Leaf>branch.leaves[i // IN_LEAF % IN_BRANCH], copy
        if leaf.owner is not self.owner:
            copy = Leaf()
            copy.owner = self.owner
            memcpy(&copy.numbers[0][0], &leaf.numbers[0][0], sizeof(copy.numbers))
            branch = <Branch>self.branch_to_change(i // (IN_LEAF * IN_BRANCH))
            branch.leaves[i // IN_LEAF % IN_BRANCH] = leaf = copy
        return &leaf.numbers[i % IN_LEAF][0]

    cdef branch_to_change(self, Py_ssize_t k):
        cdef Branch branch = <Branch>self.branches[k], copy
        if branch.owner is not self.owner:
            copy = Branch()
            copy.owner, copy.leaves = self.owner, branch.leaves.copy()
            if not self.owns_branches:
                self.branches, self.owns_branches = self.branches.copy(), True
            self.branches[k] = branch = copy
        return branch

    def read(self, Py_ssize_t i):
        """Return a record."""
        if not 0 <= i < self.n:
            raise IndexError(i)
        found = np.empty(N_NUMBERS)
        cdef double[::1] out = found
        memcpy(&out[0], self.at(i), N_NUMBERS * sizeof(double))
        return found

    def write(self, Py_ssize_t i, const double[::1] record):
        """Replace a record before the object is shared."""
        if not 0 <= i < self.n:
            raise IndexError(i)
        memcpy(self.to_change(i), &record[0], N_NUMBERS * sizeof(double))

    def array(self):
        """Return all records, one a row."""
        cdef Py_ssize_t i
        found = np.empty((self.n, N_NUMBERS))
        cdef double[:, ::1] out = found
        for i in range(self.n):
            memcpy(&out[i, 0], self.at(i), N_NUMBERS * sizeof(double))
        return found
