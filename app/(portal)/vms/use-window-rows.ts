'use client';

import { type RefObject, startTransition, useLayoutEffect, useState } from 'react';

/** Number of rows rendered beyond each edge of the window, so that slow scrolling shows no gaps. */
const beyond = 8;
/** Milliseconds without a scroll event after which scrolling counts as finished. */
const restMs = 120;

/** The visible rows, counted from 0, and whether they are scrolling. */
export interface VisibleRows {
  from: number;
  to: number;
  moving: boolean;
}

export interface WindowRows {
  visible: VisibleRows;
  /** Indexes of the first and the last row to render. */
  first: number;
  last: number;
  /** Scrolls a row into view, between the bars above and below the list. */
  show(index: number): void;
}

export interface WindowRowsOptions {
  /** The element that contains the rows, and the height in pixels above its first row (`head`). */
  frame: RefObject<HTMLElement | null>;
  head: number;
  count: number;
  /** Height of every row in pixels. All rows have this height, so their positions are known without measuring. */
  rowHeight: number;
  /** Heights in pixels of the bars that cover the window's top and bottom edges. */
  over: number;
  below: number;
}

/** Determines the visible rows of a list of any length while the page scrolls. */
export function useWindowRows({ frame, head, count, rowHeight, over, below }: WindowRowsOptions): WindowRows {
  // The rows rendered by the server, and by the browser until it has measured the page.
  const [visible, setSight] = useState<VisibleRows>({ from: 0, to: 24, moving: false });
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (moving: boolean) => {
      const top = (frame.current?.getBoundingClientRect().top ?? 0) + head;
      const from = Math.max(0, Math.floor((over - top) / rowHeight));
      const to = Math.max(from, Math.ceil((window.innerHeight - below - top) / rowHeight) - 1);
      setSight((now) => (now.from === from && now.to === to && now.moving === moving ? now : { from, to, moving }));
    };
    // Renders rows in a transition, so that they do not delay scrolling. Gaps show placeholders until the rows appear.
    const move = () => {
      startTransition(() => look(true));
      clearTimeout(timer);
      timer = setTimeout(rest, restMs);
    };
    const rest = () => startTransition(() => look(false));
    look(false);
    window.addEventListener('scroll', move, { passive: true });
    window.addEventListener('resize', rest);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('scroll', move);
      window.removeEventListener('resize', rest);
    };
  }, [frame, head, rowHeight, over, below]);

  const end = Math.max(0, count - 1);
  const from = Math.min(visible.from, end);
  const to = Math.min(visible.to, end);
  return {
    visible: { from, to, moving: visible.moving },
    first: Math.max(0, from - beyond),
    last: Math.min(end, to + beyond),
    show(index) {
      const top = (frame.current?.getBoundingClientRect().top ?? 0) + head + index * rowHeight;
      const tooHigh = top - over;
      const tooLow = top + rowHeight - (window.innerHeight - below);
      if (tooHigh < 0) window.scrollBy({ top: tooHigh });
      else if (tooLow > 0) window.scrollBy({ top: tooLow });
    },
  };
}
