// The module that every timeline carries: it waits for the code, which comes to a page once, with
// a widget of its own.

const LONGEST_MS = 1000;
const codes = (globalThis.__mxprof_codes ??= new Map());

async function code(model, over) {
  for (let ms = 10; !codes.has("@KEY@") && !over(); ms = Math.min(2 * ms, LONGEST_MS)) {
    // A front end may make widgets only when they are asked for; a page that is being restored
    // may not know them all yet.
    try {
      await model.widget_manager?.get_model(model.get("_assets"));
    } catch {
      // it will
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  return codes.get("@KEY@");
}

// anywidget waits two seconds for a module and its `initialize`, whatever else the page does.
function later(method) {
  return (context) => {
    let end = null;
    let over = false;
    code(context.model, () => over).then((found) => {
      if (!over) end = found[method](context);
    });
    return () => {
      over = true;
      end?.();
    };
  };
}

export default { initialize: later("initialize"), render: later("render") };
