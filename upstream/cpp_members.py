"""Reads how OVMS reads a request in C++: members by name (`FindMember`, `HasMember`), their types (`IsString`), and
the conditions after which it returns an error. It isn't a parser of C++, but of this regularity: `if` statements, loops
over lists, and variables that stand for a member.
"""

import re
from collections.abc import Iterable, Mapping

from specvino.upstream.cpp_statements import Body, If, Loop, body_of, comparisons, split, statements, without_comments
from specvino.upstream.cpp_values import Value
from specvino.upstream.described import Schema

_CONSTANT = re.compile(r"\bconstexpr [\w:]+ (\w+) = (\d+);")

_ERROR = re.compile(r'return (?:absl::InvalidArgumentError\(|absl::Status\(|Status\(StatusCode::|"|\w+ \+ ")')
_ASSIGNED = re.compile(r"(?:[\w:<>&* ]+\s)?([\w.]+) = (.+)", re.DOTALL)
_VALUE = re.compile(r"(\w+(?:->value|\[\"\w+\"\])?)\.Get(Double|Int|Uint|Int64|Uint64|String)\(\)")
_EACH = re.compile(r"(?:const )?auto& (\w+) : (.+)")
_MEMBERS = re.compile(r"auto (\w+) = (\w+)\.MemberBegin\(\);.*", re.DOTALL)
# Where a member is read by its name, or by an expression.
_READ = re.compile(r'(?:FindMember|HasMember|contains)\((?:"(\w+)"|([\w.]+)(?:\(\))?)\)')
_STEP = re.compile(
    r'->value|\.value\(\)|\.Get(?:Object|Array)\(\)|\["(\w+)"\]|(?:\.|->)FindMember\("(\w+)"\)|(\[\w+\])'
)

_TYPED = re.compile(r"(.+?)(?:->|\.)Is(\w+)\(\)")
_TYPED_INSIDE = re.compile(r"(\w+->value)\.Is(\w+)\(\)")
_AT_END = re.compile(r"(\w+) == .*MemberEnd\(\)")
_FOUND = re.compile(r"(\w+) != .*MemberEnd\(\)")
_LACKS = re.compile(r'!(\w+)\.(?:HasMember|contains)\("(\w+)"\)')
_EMPTY = re.compile(r"(.+?)\.(?:Empty|empty)\(\)|(.+?)\.Size\(\) == 0|!(.+?)\.size\(\)")
_COMPARED = re.compile(r"(.+?)(\.Size\(\)|\.Get\w+\(\))? (<|<=|>|>=|==|!=) (.+)")
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)f?")
_TEXT = re.compile(r'"([^"\\]*)"')
_IS_THERE = re.compile(r"(.+FindMember\(.+?\)) != .*MemberEnd\(\)")
_AS_TEXT = re.compile(r"std::string\((.+?)\.GetString\(\)\)")
_END = re.compile(r"[\w.>()-]+\bMemberEnd\(\)")
_ENDPOINT = re.compile(r"endpoint (==|!=) Endpoint::(\w+)")

# The keyword of a value that isn't an error, by the comparison that is one.
_KEYWORDS = {"<": "minimum", ">": "maximum", "<=": "exclusiveMinimum", ">=": "exclusiveMaximum"}


class Members:
    """A reader of one kind of request. `texts` are the files, in which constants are defined, too; `endpoint` is its
    name in conditions such as `endpoint == Endpoint::RESPONSES`. `known` has the values of other conditions, by their
    text."""

    def __init__(self, texts: Mapping[str, str], endpoint: str, known: Mapping[str, bool]) -> None:
        self._texts = {file: without_comments(text) for file, text in texts.items()}
        self._constants = {
            name: int(number) for text in self._texts.values() for name, number in _CONSTANT.findall(text)
        }
        self._endpoint = endpoint
        self._known = known
        self._root = Value(types={"Object"})
        self._variables: dict[str, list[Value]] = {}
        self._iterators: dict[str, Value] = {}
        self._names: set[str] = set()
        self._chosen: dict[Value, Value] = {}
        self._met: set[str] = set()
        # The values that the conditions around a statement are about.
        self._around: tuple[tuple[Value, ...], ...] = ()
        self.conditional: set[str] = set()
        """The names of members with an error that depends on something else, which isn't in the schema."""

    @property
    def unread(self) -> set[str]:
        """The names, or expressions for names, of members that a function reads in a form that isn't known: a field
        that isn't in the schema may be one of them."""
        names, left = set(), [self._root]
        for node in left:
            names.add(node.name)
            left += [*node.members.values(), *node.kinds.values(), *filter(None, [node.items])]
        return self._met - names

    def schema(self) -> Schema:
        """Returns the schema of the request, as far as it was read."""
        return self._root.schema()

    def read(self, file: str, function: str, variables: Mapping[str, str]) -> None:
        """Reads a function whose variables are values of the request, by path: `messages[]`, the empty path for the
        body, or `input[] type=reasoning` for objects of a kind. Raises Unreadable if there is no such function."""
        self._variables = {name: [self._at(path)] for name, path in variables.items()}
        self._iterators, self._names, self._chosen = {}, set(), {}
        self._body(statements(body_of(self._texts[file], file, function)))

    def _at(self, path: str) -> Value:
        node = self._root
        for step in filter(None, re.split(r"[.]|(\[\])|( \w+=\w+)", path)):
            if step == "[]":
                node = node.element()
            elif "=" in step:
                key, _, value = step.strip().partition("=")
                node.member(key)
                node.is_closed = True
                node = node.kind(key, value)
            else:
                node = node.member(step)
        return node

    def _body(self, body: Body) -> None:
        for statement in body:
            if isinstance(statement, str):
                self._meet(statement)
                self._assign(statement)
            elif isinstance(statement, Loop):
                self._loop(statement)
            else:
                self._if(statement)

    def _meet(self, text: str) -> None:
        self._met |= {name or expression for name, expression in _READ.findall(text)}

    def _assign(self, statement: str) -> None:
        match = _ASSIGNED.fullmatch(statement)
        if match is None:
            return
        name, value = match[1], match[2].strip()
        for expression, test in _TYPED_INSIDE.findall(value):
            for node in self._resolved(expression):
                node.is_nullable = node.is_nullable or test == "Null"
                node.is_tested = node.is_tested or test != "Null"
        if "->name.GetString()" in value:
            self._names.add(name)
        elif value.startswith("&"):  # a pointer, which may have been set in another branch
            self._variables.setdefault(name, []).extend(self._resolved(value[1:]))
        elif read := _VALUE.search(value):
            self._variables[name] = self._resolved(read[1])
            for node in self._variables[name]:
                if not node.is_tested:  # rapidjson doesn't define what it returns for another type
                    node.types.add(read[2])
        elif nodes := self._resolved(value):
            self._variables[name] = nodes

    def _resolved(self, expression: str) -> list[Value]:
        """Returns the values for which an expression stands; none if it isn't known."""
        expression = expression.strip()
        for name in sorted(self._variables, key=len, reverse=True):
            if expression.startswith(name):
                nodes, rest = self._variables[name], expression[len(name) :]
                break
        else:
            return []
        while rest:
            step = _STEP.match(rest)
            if step is None:
                return []
            rest = rest[step.end() :]
            if member := step[1] or step[2]:
                nodes = [self._chosen.get(node, node).member(member) for node in nodes]
            elif step[3]:
                nodes = [node.element() for node in nodes]
        return nodes

    def _loop(self, loop: Loop) -> None:
        self._meet(loop.head)
        if loop_over := _EACH.fullmatch(loop.head):
            if lists := self._resolved(loop_over[2]):
                self._variables[loop_over[1]] = [node.element() for node in lists]
        elif (members := _MEMBERS.fullmatch(loop.head)) and (nodes := self._resolved(members[2])):
            self._iterators[members[1]] = nodes[0]
        self._body(loop.body)

    def _if(self, statement: If) -> None:
        branches = tuple((_AS_TEXT.sub(r"\1", condition), body) for condition, body in statement.branches)
        for index, (condition, body) in enumerate(branches):
            endpoint = _ENDPOINT.fullmatch(condition)
            holds = self._known.get(condition)
            if endpoint:
                holds = (endpoint[1] == "==") == (endpoint[2] == self._endpoint)
            if holds is False:
                continue
            self._meet(condition)
            self._accepted(condition)
            if (typed := _TYPED.fullmatch(condition)) and body[-1:] == ("return absl::OkStatus()",):
                for node in self._resolved(typed[1]):
                    node.answered.add(typed[2])
            before, outside = self._chosen, self._around
            self._around = outside + self._about_all(previous for previous, _ in branches[:index])
            if not condition and _is_error(body):
                self._others_refused(branches[:-1])
            elif _is_error(body):
                for part in split(condition, "||"):
                    self._refused(part)
            kinds = self._kinds(condition) if condition else self._absent(branches[index - 1][0])
            self._around = outside if kinds or holds else self._around + self._about_all([condition])
            for key, value in kinds or [(None, None)]:
                if key is not None and key.parent is not None:
                    self._chosen = {**before, key.parent: key.parent.kind(key.name, value)}
                self._body(body)
            self._chosen, self._around = before, outside
            if holds:
                break

    def _about_all(self, conditions: Iterable[str]) -> tuple[tuple[Value, ...], ...]:
        return tuple(self._about(test) for condition in conditions for test in comparisons(condition) if test)

    def _about(self, condition: str) -> tuple[Value, ...]:
        """Returns the values that a condition is about; none if it is about something else."""
        if _ENDPOINT.fullmatch(condition) or condition in self._known:
            return (self._root,)
        condition = _END.sub("", condition)
        values = {**{name: [*self._iterators.values()] for name in self._names}, **self._variables}
        named = (name for name in values if re.search(rf"(?<![\w.>]){re.escape(name)}(?!\w)", condition))
        return tuple(node for name in named for node in values[name])

    def _judged(self, expression: str) -> list[Value]:
        """Returns the values for which an expression stands, but those whose error depends on something else."""
        nodes = self._resolved(expression)
        judged = [node for node in nodes if all(map(node.is_inside, self._around))]
        self.conditional |= {node.name for node in nodes if node not in judged}
        return judged

    def _accepted(self, condition: str) -> None:
        """Notes the members that a condition reads, and those that may be null."""
        parts = list(comparisons(condition))
        for part in parts:
            typed = _TYPED.fullmatch(part.removeprefix("!"))
            for node in self._resolved(typed[1]) if typed else ():
                is_null = typed is not None and typed[2] == "Null"
                node.is_nullable, node.is_tested = node.is_nullable or is_null, node.is_tested or not is_null
            name, _, value = part.partition(" == ")
            if name in self._names and (text := _TEXT.fullmatch(value)):
                for iterator, node in self._iterators.items():
                    self._variables[iterator] = [self._chosen.get(node, node).member(text[1])]

    def _kinds(self, condition: str) -> list[tuple[Value, str]]:
        """Returns the values of a member that a condition requires: `type == "text" || …`."""
        kinds = []
        for part in split(condition, "||"):
            name, _, value = part.partition(" == ")
            text = _TEXT.fullmatch(value)
            nodes = self._resolved(name) if text else []
            if text is None or not nodes or nodes[0].parent is None:
                return []
            kinds.append((nodes[0], text[1]))
        return kinds

    def _absent(self, condition: str) -> list[tuple[Value, None]]:
        """Returns the member that is absent in the `else` of a condition that it is there."""
        members = [match for part in split(condition, "&&") if (match := _FOUND.fullmatch(part))]
        return [(node, None) for member in members for node in self._resolved(member[1]) if node.parent]

    def _others_refused(self, branches: Iterable[tuple[str, Body]]) -> None:
        """Notes that all other types, texts or objects than those of the branches are an error."""
        for condition, _ in branches:
            if "||" in condition:
                for key, value in self._kinds(condition):
                    key.texts.append(value)
            for part in split(condition, "&&"):
                if match := _FOUND.fullmatch(part):
                    self._require(self._judged(match[1]))
                elif (match := _TYPED.fullmatch(part)) and match[2] != "Null":
                    self._typed(match[1], match[2])
                else:
                    for key, value in self._kinds(part):
                        key.texts.append(value)

    def _refused(self, condition: str) -> None:
        """Notes what an error requires: one of the alternatives of a condition."""
        parts = [part for part in split(condition, "&&") if not _FOUND.fullmatch(part)]
        typed = [_TYPED.fullmatch(part[1:]) for part in parts if part.startswith("!")]
        if len(typed) == len(parts) and None not in typed:
            for match in filter(None, typed):
                self._typed(match[1], match[2])
        elif all(_TEXT.fullmatch(part.partition(" != ")[2]) for part in parts):
            for part in parts:
                name, _, value = part.partition(" != ")
                for node in self._judged(name):
                    node.texts += _TEXT.findall(value)
        elif len(parts) == 1:
            self._refused_alone(parts[0])

    def _typed(self, expression: str, name: str) -> None:
        for node in self._judged(expression):
            node.types.add(name)
            node.is_strict = node.is_strict or not node.is_nullable

    def _refused_alone(self, part: str) -> None:
        if match := _IS_THERE.fullmatch(part):
            for node in self._judged(match[1]):
                node.is_refused = True
        elif match := _AT_END.fullmatch(part):
            self._require(self._judged(match[1]))
        elif match := _LACKS.fullmatch(part):
            self._require([self._chosen.get(node, node).member(match[2]) for node in self._judged(match[1])])
        elif part.startswith("!") and part.endswith(".has_value()"):
            self._require(self._judged(part[1:].removesuffix(".has_value()")))
        elif match := _EMPTY.fullmatch(part):
            for node in self._judged(match[1] or match[2] or match[3]):
                node.bounds["minLength" if node.types == {"String"} or ".empty" in part else "minItems"] = 1
        elif match := _COMPARED.fullmatch(part):
            self._compare(self._judged(match[1]), match[2] == ".Size()", match[3], match[4])

    def _compare(self, nodes: list[Value], is_size: bool, comparison: str, value: str) -> None:
        number = self._number(value)
        if number is None:
            return
        for node in nodes:
            if is_size and comparison == ">":
                node.bounds["maxItems"] = number
            elif comparison in _KEYWORDS and not is_size:
                keyword = _KEYWORDS[comparison]
                tighter = max if "inimum" in keyword else min
                node.bounds[keyword] = tighter(number, node.bounds.get(keyword, number))
            elif comparison == "==" and not is_size:
                node.bounds["not"] = {"const": number}
            elif comparison == "!=":
                node.bounds["const"] = number

    def _number(self, text: str) -> float | int | None:
        if "numeric_limits<uint32_t>::max()" in text:
            return 2**32 - 1
        match = _NUMBER.fullmatch(text)
        if match is None:
            return self._constants.get(text)
        return float(match[1]) if "." in match[1] else int(match[1])

    def _require(self, nodes: list[Value]) -> None:
        for node in nodes:
            if node.parent is not None:
                node.parent.required.add(node.name)


def _is_error(body: Body) -> bool:
    """Returns whether a body ends with an error."""
    return bool(body) and isinstance(body[-1], str) and _ERROR.match(body[-1]) is not None
