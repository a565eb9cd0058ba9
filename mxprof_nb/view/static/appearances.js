// Where a profile appears in the page, and its live view there.
//
// A notebook stores only the form that needs no kernel: an element of class `mxp-form`, and of
// another class that names its model. Nobody displays the model; it announces itself here. While
// it is served, every element of its name has a live view, and the static content beside it is
// hidden: elements of now, of later, scrolled back in, or of a second view of an output. When the
// element goes, so does its view; when the kernel goes, the static content is back.

const FORM = "mxp-form";
PAGE.models ??= new Map(); // class that names a model -> how to mount a view of it
PAGE.shown ??= new Map(); // element -> its view

// Thirty views at once would hold the page for seconds, and anywidget gives a model up that is not
// ready two seconds after its creation.
const MOUNTING_MS = 40;

// Makes what is shown agree with the elements of the page and the models that are served.
function reconcile() {
  const begin = performance.now();
  for (const [form, view] of PAGE.shown) {
    if (form.isConnected && PAGE.models.get(view.name) === view.mount) continue;
    PAGE.shown.delete(form);
    view.remove();
  }
  for (const form of document.getElementsByClassName(FORM)) {
    if (PAGE.shown.has(form)) continue;
    const name = [...form.classList].find((one) => PAGE.models.has(one));
    if (name && performance.now() - begin > MOUNTING_MS) return reconcileSoon();
    if (name) PAGE.shown.set(form, mountedIn(form, name, PAGE.models.get(name)));
  }
}

function mountedIn(form, name, mount) {
  const still = form.firstElementChild;
  const place = document.createElement("div");
  form.append(place);
  const unmount = mount(place, still.querySelector("img")?.src ?? "");
  still.hidden = true;
  const remove = () => {
    unmount();
    place.remove();
    still.hidden = false;
  };
  return { name, mount, remove };
}

function reconcileSoon() {
  PAGE.due ??= setTimeout(() => {
    PAGE.due = undefined;
    reconcile();
  });
}

// One observer for the page, whoever comes first. What plotly draws in our own views is not news.
function watchPage() {
  if (PAGE.observer) return;
  PAGE.observer = new MutationObserver((records) => {
    if (!records.every(({ target }) => target.closest?.(".mxp"))) reconcileSoon();
  });
  PAGE.observer.observe(document.body, { childList: true, subtree: true });
}

// Has a model served until its kernel is gone; returns what ends it earlier. It must not wait.
function announce(model, mount) {
  const name = `${FORM}-${model.get("_mark")}`;
  let undo = [];
  const retire = () => {
    for (const action of undo) action();
    undo = [];
    if (PAGE.models.get(name) === mount) PAGE.models.delete(name);
    reconcile();
  };
  const listen = (event) => {
    model.on(event, retire);
    undo.push(() => model.off(event, retire));
  };
  listen("comm:close");
  listen("destroy");
  // Half private, like all that tells a page about its kernel: where it is missing, the event by
  // which a widget manager says that it gave the kernel up has to do.
  const manager = model.widget_manager;
  const session = manager?.context?.sessionContext ?? manager?.kernel;
  if (session?.statusChanged) {
    const gone = ["restarting", "autorestarting", "terminating", "dead"];
    const onStatus = (_, status) => gone.includes(status) && retire();
    for (const [signal, slot] of [
      [session.statusChanged, onStatus],
      [session.kernelChanged, retire],
    ]) {
      signal?.connect(slot);
      undo.push(() => signal?.disconnect(slot));
    }
  } else {
    listen("comm_live_update");
  }
  PAGE.models.set(name, mount);
  watchPage();
  reconcileSoon();
  return retire;
}

// anywidget gives a model up, with all messages to it, whose module was not read two seconds after
// its creation: a page may be busy that long with other outputs. The module is read all the same,
// later: then messages go past anywidget, and the state tells what was missed. Half private, so any
// surprise means: as anywidget has it.
async function keepReached(model) {
  const name = "_handle_comm_msg";
  const made = await model.widget_manager?.get_model(model.get("_mark")).catch(() => null);
  if (!made?.[name]) return;
  try {
    await made[name]({ content: { data: { method: "custom", content: {} } }, buffers: [] });
  } catch {
    const ways = [];
    for (let at = made; at; at = Object.getPrototypeOf(at)) if (Object.hasOwn(at, name)) ways.push(at[name]);
    if (ways.length < 2 || !made.comm?.on_msg) return;
    made.comm.on_msg(ways[1].bind(made));
    made.comm.send({ method: "request_state" });
  }
}
