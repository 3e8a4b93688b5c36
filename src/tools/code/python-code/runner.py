"""Runs the code that comes by stdin, and notes in the file it is given what came of it. Any Python from 3.8 on."""

import ast, builtins, json, linecache, os, reprlib, signal, sys, traceback, types

NAME = "<code>"
SECONDS_FOR_REPR = 2
MOST_VARIABLES = 50
MOST_VALUE = 4000
MOST_TRACEBACK = 4000
MOST_FIGURES = 10

brief = reprlib.Repr()
brief.maxstring = brief.maxother = 200
brief.maxlist = brief.maxtuple = brief.maxset = brief.maxfrozenset = brief.maxdict = brief.maxarray = 20
brief.maxlevel = 3


class TooSlow(BaseException):
    pass


def give_up(*_):
    raise TooSlow


# Some Pythons have no clock that interrupts, such as one in WebAssembly.
set_clock = getattr(signal, "setitimer", lambda *_: None)


def guarded(show, value):
    """A text for a value of any class, whatever its own methods do."""
    try:
        signal.signal(signal.SIGALRM, give_up)
        set_clock(signal.ITIMER_REAL, SECONDS_FOR_REPR)
        text = show(value)
        return text if type(text) is str else str.__str__(text)
    except BaseException:
        return "<%s that can't be shown>" % type.__dict__["__name__"].__get__(type(value))
    finally:
        set_clock(signal.ITIMER_REAL, 0)


def cut(text, most):
    if len(text) <= most:
        return text
    return "%s\n... [%d characters left out] ...\n%s" % (text[: most // 2], len(text) - most, text[-most // 2 :])


def show_variable(value):
    kind = type(value)
    if kind is types.FunctionType:
        return "<function %s>" % value.__name__
    return " ".join(brief.repr(value).split("\n")) if kind not in (str, bytes) else brief.repr(value)


def is_imported(value):
    if isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
        return True
    return isinstance(value, (type, types.FunctionType)) and getattr(value, "__module__", None) != "__main__"


def variables_of(names):
    texts = {}
    for name, value in list(names.items()):
        if not isinstance(name, str) or name.startswith("_"):
            continue
        try:
            if is_imported(value):
                continue
        except BaseException:
            pass
        if len(texts) == MOST_VARIABLES:
            break
        texts[name] = guarded(show_variable, value)
    return texts


def run(source, names):
    """The value of the last line, if that is an expression."""
    tree = ast.parse(source, NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec", dont_inherit=True), names)
    if last is not None:
        return eval(compile(ast.Expression(last.value), NAME, "eval", dont_inherit=True), names)


def explain(error):
    """The error in one line, and where it happened in the code that was given."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != NAME:
        frames = frames.tb_next
    # Of a fault of syntax this holds the line and a mark under the place.
    lines = traceback.format_exception(type(error), error, frames)
    summary = traceback.format_exception_only(type(error), error)[-1]
    return {"error": cut(summary.strip(), 1000), "traceback": cut("".join(lines).strip(), MOST_TRACEBACK)}


def save_figures(source):
    """Charts that were drawn and neither saved nor closed: a person shall see them."""
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is None or "savefig" in source:
        return
    number = 0
    for figure in plots.get_fignums()[:MOST_FIGURES]:
        while True:
            number += 1
            name = "figure-%d.png" % number
            if not os.path.lexists(name):
                break
        plots.figure(figure).savefig(name, dpi=120, bbox_inches="tight")


# Wherever the code goes: in some sandboxes the folder can't be entered by its path.
folder = os.open(".", os.O_RDONLY)
os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
note = open(sys.argv[1], "w")
# Charts go into files; what libraries keep for their next start stays with the workspace.
os.environ["MPLBACKEND"] = "Agg"
if os.path.isdir(os.getcwd()):
    os.environ["MPLCONFIGDIR"] = os.path.join(os.getcwd(), ".colloquy", "matplotlib")
source = sys.stdin.buffer.read().decode("utf-8")
sys.argv = [NAME]
sys.path.insert(0, "")
linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
main = types.ModuleType("__main__")
main.__builtins__ = builtins
sys.modules["__main__"] = main
told = {}
try:
    value = run(source, main.__dict__)
    if value is not None:
        told["value"] = cut(guarded(repr, value), MOST_VALUE)
except SystemExit as error:
    if error.code not in (None, 0):
        told.update(explain(error))
except BaseException as error:
    told.update(explain(error))
try:
    os.fchdir(folder)
    save_figures(source)
except BaseException as error:
    told["figures"] = cut(traceback.format_exception_only(type(error), error)[-1].strip(), 500)
told["variables"] = variables_of(main.__dict__)
with note:
    json.dump(told, note)
# Code that failed is no failure of the command, but who reads its exit code shall know.
sys.stdout.flush()
if "error" in told:
    sys.exit(1)
