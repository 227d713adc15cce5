import { structuredPatch } from 'diff';
import { diffWordsWithin, maxLineEdits } from '../bounded-diff.ts';

/** A part of a line, marked if it differs from the other side. */
export interface DiffPiece {
  text: string;
  marked: boolean;
}

/** The line before or after a change. */
export interface DiffSide {
  number: number;
  pieces: DiffPiece[];
}

/** A row of the comparison: unchanged, removed, added or changed. */
export interface DiffRow {
  before: DiffSide | null;
  after: DiffSide | null;
  changed: boolean;
}

export interface Hunk {
  /** The extension that the hunk belongs to; empty if there is none. */
  heading: string;
  rows: DiffRow[];
}

const context = 3;
/**
 * Minimum share of common text for two lines to count as one changed line. Otherwise, one line counts as removed and
 * the other as added.
 */
const leastCommon = 0.3;

/** Compares two texts line by line with three lines of context, and marks the changed words within lines. */
export function hunksBetween(before: string, after: string): Hunk[] {
  const earlier = before.split('\n');
  const options = { context, maxEditLength: maxLineEdits };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  if (patch === undefined) {
    const lines = [...earlier.map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)];
    return [{ heading: '', rows: rowsOf(lines, 1, 1) }];
  }
  return patch.hunks.map((hunk) => {
    const lines = hunk.lines.filter((line) => !line.startsWith('\\'));
    const above = earlier.slice(0, Math.max(0, hunk.oldStart - 1)).reverse();
    return {
      heading: ownerOf([...above, ...lines.map((line) => line.slice(1))]),
      rows: rowsOf(lines, hunk.oldStart, hunk.newStart),
    };
  });
}

/** Returns the first extension name in these lines of a goal state; empty if there is none. */
function ownerOf(lines: readonly string[]): string {
  const owner = /^ {2}"([^"]+)": \{/;
  for (const line of lines) {
    const found = owner.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return '';
}

function rowsOf(lines: readonly string[], oldStart: number, newStart: number): DiffRow[] {
  const rows: DiffRow[] = [];
  let [oldLine, newLine] = [oldStart, newStart];
  let gone: string[] = [];
  let come: string[] = [];
  function flush() {
    for (let index = 0; index < Math.max(gone.length, come.length); index++) {
      const [before, after] = marked(gone[index], come[index]);
      rows.push({
        before: before && { number: oldLine++, pieces: before },
        after: after && { number: newLine++, pieces: after },
        changed: true,
      });
    }
    [gone, come] = [[], []];
  }
  for (const line of lines) {
    const text = line.slice(1);
    if (line[0] === '-') gone.push(text);
    else if (line[0] === '+') come.push(text);
    else {
      flush();
      const pieces = [{ text, marked: false }];
      rows.push({ before: { number: oldLine++, pieces }, after: { number: newLine++, pieces }, changed: false });
    }
  }
  flush();
  return rows;
}

/** Returns both sides of a changed line, with differing words marked. */
function marked(before: string | undefined, after: string | undefined): [DiffPiece[] | null, DiffPiece[] | null] {
  const plain = (text: string | undefined) => (text === undefined ? null : [{ text, marked: false }]);
  if (before === undefined || after === undefined) return [plain(before), plain(after)];
  const parts = diffWordsWithin(before, after);
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, { value }) => sum + value.trim().length, 0);
  if (common < leastCommon * Math.max(before.trim().length, after.trim().length)) return [plain(before), plain(after)];
  const side = (other: 'added' | 'removed', own: 'added' | 'removed') =>
    parts.filter((part) => !part[other]).map((part) => ({ text: part.value, marked: part[own] === true }));
  return [side('added', 'removed'), side('removed', 'added')];
}
