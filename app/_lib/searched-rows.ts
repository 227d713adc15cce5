'use client';

import { useEffect, useRef, useState } from 'react';

interface Target {
  enter(): void;
  openOnly(text: string): void;
}

/** The list below the search field of a page. */
export interface SearchedRows {
  /** The text that the rows match; undefined while they belong to an earlier search. */
  text: string | undefined;
  /** The only matching row; undefined if there are several or none. */
  only: string | undefined;
  /** Selects the first row. */
  enter(): void;
  open(row: string): void;
}

let target: Target | null = null;

/** How long Enter in the search field waits for the matching rows, in milliseconds. */
const patienceMs = 3_000;

/** Selects the first row of the list. Returns false if the page has no list to search. Browser only. */
export function enterRows(): boolean {
  target?.enter();
  return target !== null;
}

/** Opens the row that is the only match for a text, once the rows are loaded. Browser only. */
export const openOnlyMatch = (text: string): void => target?.openOnly(text.trim());

/** Connects a list to the search field of its page while the list is mounted. */
export function useSearchedRows(rows: SearchedRows): void {
  const [wanted, setWanted] = useState<{ text: string; at: number } | null>(null);
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  useEffect(() => {
    const own: Target = {
      enter: () => latest.current.enter(),
      openOnly: (text) => setWanted({ text, at: Date.now() }),
    };
    target = own;
    return () => {
      if (target === own) target = null;
    };
  }, []);
  const isAnswered = wanted !== null && rows.text?.trim() === wanted.text;
  useEffect(() => {
    if (!isAnswered || wanted === null) return;
    setWanted(null);
    const { only, open } = latest.current;
    if (only !== undefined && Date.now() - wanted.at < patienceMs) open(only);
  }, [isAnswered, wanted]);
}
