import type { StepRow } from './pass.ts';

/** The values of a step that has not begun. */
export const notBegun = {
  attempt: 0,
  touched: [],
  incarnation: null,
  executionId: null,
  publishedAt: null,
  deliveredAt: null,
  concludedAt: null,
  healthyAt: null,
  breaks: 0,
} satisfies Partial<StepRow>;
