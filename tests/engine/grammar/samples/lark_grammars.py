"""Lark grammars. `PATCH` is like the one that Codex sends with its tool apply_patch."""

PATCH = r"""
start: begin change+ end
begin: "*** Begin" LF
end: "*** End" LF?

change: "*** Add: " filename LF added+ -> add
      | "*** Delete: " filename LF
      | "*** Update: " filename LF moved? (hunk | line)+
filename: /(.+)/
added: "+" /(.*)/ LF
moved: "*** Move to: " filename LF
hunk: ("@@" | "@@ " /(.+)/) LF
line: ("+" | "-" | " ") /(.*)/ LF

%import common.LF
"""

ARITHMETIC = """
?start: sum
?sum: product | sum "+" product | sum "-" product
?product: atom | product "*" atom
?atom: NUMBER -> number
     | "-" atom
     | "(" sum ")"

%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""

QUERY = r"""
start: "select"i columns "from"i NAME [where]
columns: NAME ("," NAME)* | "*"
where: "where"i condition ("and"i condition)~0..2
condition: NAME ("=" | "<>") (value | NAME)
value: INT | "'" /[^'\n]+/ "'"
NAME: LETTER ("_" | LETTER | DIGIT)*
LETTER: "a".."z"

%import common (DIGIT, INT)
%ignore " "
"""

NESTED = """
start: list
list: "[" [value ("," value)*] "]"
value: list | ESCAPED
ESCAPED: "\\"" /[^"\\\\]/* "\\""
"""

DOUBLED = 'start: a19\na0: "x" | "y"\n' + "".join(f"a{n}: a{n - 1} a{n - 1}\n" for n in range(1, 20))
"""Written out it has half a million characters."""
