// The message list stays at its end while an answer grows, until the reader scrolls away from it.

/** Within this distance of the end (px) a reader who scrolls down means "the end": about two lines. */
const NEAR_PX = 48;

/** Space left above a message that is shown from its start (px). */
const START_MARGIN_PX = 12;

export class Follower {
  #last = 0;
  #following = true;

  /**
   * @param {HTMLElement} list                      the element that scrolls
   * @param {(following: boolean) => void} onChange
   */
  constructor(list, onChange) {
    this.list = list;
    this.onChange = onChange;
    list.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // A list that changes its own size (dialog resized, keyboard on a phone) keeps its end in sight.
    new ResizeObserver(() => this.keep()).observe(list);
  }

  #onScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    const distance = scrollHeight - scrollTop - clientHeight;
    if (scrollTop < this.#last - 1 && distance > 1) this.#set(false);
    else if (distance <= NEAR_PX) this.#set(true);
    this.#last = scrollTop;
  }

  /** @param {boolean} following */
  #set(following) {
    if (following === this.#following) return;
    this.#following = following;
    this.onChange(following);
  }

  /** Call it after the content has grown. */
  keep() {
    if (!this.#following) return;
    this.list.scrollTop = this.list.scrollHeight;
    this.#last = this.list.scrollTop;
  }

  /** Goes to the end and follows from there on. */
  toEnd() {
    this.#set(true);
    this.keep();
  }

  /**
   * Shows a message that is complete from its start, if it is too long to be seen whole: who was led along the end of a
   * growing answer would have to scroll back to read it. A reader who has scrolled away is left where they are.
   * @param {HTMLElement} first  where reading begins
   */
  showStart(first) {
    if (!this.#following) return;
    const above = first.getBoundingClientRect().top - this.list.getBoundingClientRect().top;
    if (above < 0) this.list.scrollTop += above - START_MARGIN_PX;
  }
}
