cdef enum:                              # kinds of a value
    NUMBER
    NAME
    DATE
    LIST
    TEXT
    MISSING
    BOOLEAN
    NONE_THERE                          # the row lacks the column
    WRONG                               # what is of no kind

cdef enum:                              # what is known of a column; the bits below are those of the kinds it has had
    IDS = 1 << 8                        # a name has come that is an id, so that whole numbers are names
    WORDS = 1 << 9                      # yes and no are names
    BOOLEANS = 1 << 10                  # yes and no are booleans
    LETTERS = 1 << 11                   # t and f, too
    DAY_FIRST = 1 << 12                 # 05/01/2024 is in January
    MONTH_FIRST = 1 << 13               # it is in May
    ONLY_NAMES = 1 << 14                # a type has said that all values are names
    AS_NAME = 1 << 16                   # the user has
    AS_NUMBER = 1 << 17                 # the user has said that all values are numbers
    AS_DATE = 1 << 18                   # or dates
    COMMA = 1 << 19                     # numbers have a decimal comma

cdef double LARGEST_NUMBER
cdef object absent

cdef class Reading:
    cdef double number
    cdef object value, form, as_text
    cdef int raises
    cdef bint wavers
    cdef object doubt
    cdef int read(self, value, int state) except -1
    cdef int text(self, str text, int state) except -1
    cdef int no_number(self, str text, int state) except -1
    cdef bint counts_milliseconds(self, int state) except -1
    cdef int dated(self, str text, int state) except -1
