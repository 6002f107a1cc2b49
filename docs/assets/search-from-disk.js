// A browser starts no worker from a page on a disk: the search of the site then runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      // what the script calls to answer, and to load more of itself
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...more) => Promise.all(more.map(name => load(inside, name)));
      this.inside = load(inside, script).then(() => inside);
    }

    postMessage(data) {
      this.inside.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };

  function load(inside, name) {
    return new Promise(done => {
      const script = inside.document.createElement("script");
      script.src = name;
      script.onload = done;
      inside.document.body.appendChild(script);
    });
  }
}
