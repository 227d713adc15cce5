import { z } from 'zod';

/** The key of a problem. */
export const problemKey = z.string().regex(/^[0-9a-f]{32}$/);

/** The longest snooze, in days. */
export const maxSnoozeDays = 90;

/** The member to whom the problem is assigned. */
export const assignment = z.object({ memberId: z.string().min(1).max(100) });

/** Without `until`, the snooze ends when the problem changes. */
export const snoozeTerms = z.object({ until: z.iso.datetime({ offset: true }).nullish() });

export const problemInput = z.object({ key: problemKey });
export type ProblemInput = z.input<typeof problemInput>;

export const assignProblemInput = problemInput.extend(assignment.shape);
export type AssignProblemInput = z.input<typeof assignProblemInput>;

export const snoozeProblemInput = problemInput.extend(snoozeTerms.shape);
export type SnoozeProblemInput = z.input<typeof snoozeProblemInput>;
