'use client';

import { type RefObject, useEffect, useRef, useState } from 'react';

/** Distance from the end that counts as the end, in pixels. */
const nearPx = 24;

/**
 * Keeps a list at its end while rows arrive, until the reader scrolls up. `seen` is the number of rows when the reader
 * stopped following.
 */
export function useFollow(frame: RefObject<HTMLElement | null>, rows: number, startsAtEnd: boolean) {
  const [follows, setFollows] = useState(startsAtEnd);
  const [seen, setSeen] = useState(0);
  const lastTop = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new row moves the end
  useEffect(() => {
    const element = frame.current;
    if (follows && element !== null) element.scrollTop = element.scrollHeight;
  }, [frame, follows, rows]);
  return {
    follows,
    seen,
    stop() {
      setFollows(false);
      setSeen(rows);
    },
    follow() {
      setFollows(true);
      // If the reader just scrolled up, the state may not change between two renders, so no effect would scroll.
      const element = frame.current;
      if (element !== null) element.scrollTop = element.scrollHeight;
    },
    onScroll() {
      const element = frame.current;
      if (element === null) return;
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - nearPx;
      const movedUp = element.scrollTop < lastTop.current;
      lastTop.current = element.scrollTop;
      if (isAtEnd) setFollows(true);
      else if (movedUp && follows) {
        setFollows(false);
        setSeen(rows);
      }
    },
  };
}
