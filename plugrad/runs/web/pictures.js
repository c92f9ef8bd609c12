
// Pictures in the folder; those that differ by a number are frames, with a slider.

class Pictures {
  constructor({ name, run }) {
    this.image = element("img", { loading: "lazy", load: () => this.image.classList.toggle("small", this.image.naturalWidth <= 160) });
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": `Frame of ${name}`, input: () => this.show() });
    this.label = element("output", {});
    this.frames = element("div", { class: "frames" }, this.slider, this.label);
    this.node = element("section", { class: "card" }, element("h3", {}, name), element("p", { class: "of" }, run), element("div", { class: "picture" }, this.image), this.frames);
    this.list = [];
  }

  update({ name, run, frames }) {
    const last = !this.list.length || Number(this.slider.value) === this.list.length - 1;
    Object.assign(this, { name, run, list: frames });
    this.slider.max = frames.length - 1;
    if (last) this.slider.value = frames.length - 1; // the newest one is followed
    this.frames.hidden = frames.length === 1;
    this.show();
  }

  show() {
    const frame = this.list[Number(this.slider.value)];
    const from = frame.picture.startsWith("data:") ? frame.picture : `picture/${frame.picture}?${frame.stamp}`;
    if (this.image.getAttribute("src") !== from) this.image.setAttribute("src", from);
    this.image.setAttribute("alt", `${frame.name} of ${this.run}`);
    this.label.textContent = frame.label;
    this.slider.setAttribute("aria-valuetext", frame.label || frame.name);
  }
}
