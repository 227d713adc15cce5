import { missingValues } from '#app/_lib/missing-values.ts';
import type { ProblemFault } from '#app/_lib/problem.ts';

/** The parts of the page, in reading order. */
export const parts = ['who', 'what', 'how', 'when', 'json', 'plan'] as const;
export type EditorPart = (typeof parts)[number];

/** The fields of each part, by the beginning of a fault's path. */
const roots: Readonly<Record<string, EditorPart>> = {
  select: 'who',
  name: 'who',
  note: 'who',
  change: 'what',
  startAt: 'when',
  windows: 'when',
};

/** Returns the part of the page that shows a fault. */
export function partOf(path: string): EditorPart {
  if (/^\/rings\/\d+\/windows/.test(path)) return 'when';
  return roots[path.split('/')[1] ?? ''] ?? 'how';
}

export interface FormFaults {
  all: readonly ProblemFault[];
  /** Whether the reader tried to continue, so that values are shown as missing in fields that were not visited yet. */
  insists: boolean;
  /** Whether all faults are missing parameters of a runbook, and the reader has not tried to continue. */
  onlyOpen: boolean;
  /** Returns the sentence of the fault at this path. */
  at(path: string): string | undefined;
  /** Returns the faults at this path and below. */
  below(path: string): readonly ProblemFault[];
}

/** Looks up the faults that the portal found, by path. */
export function faultsOf(all: readonly ProblemFault[], insists = true): FormFaults {
  return {
    all,
    insists,
    onlyOpen: !insists && all.length > 0 && all.every(isMissingParameter),
    at: (path) => all.find((fault) => fault.path === path)?.message,
    below: (path) => all.filter((fault) => fault.path === path || fault.path.startsWith(`${path}/`)),
  };
}

const isMissingParameter = ({ code, path }: ProblemFault): boolean =>
  missingValues.has(code) && /^\/change\/(parameters|secretParameters)\//.test(path);
