import type words from '#locales/en/activity.json';

type CodeOf<Key> = Key extends `act.${infer Code}` ? Singular<Code> : never;
type Singular<Code> = Code extends `${infer Base}_${'zero' | 'one' | 'other'}` ? Base : Code;

/** The closed list of acts: an act exists when `locales/en/activity.json` has a sentence for it, plural forms as one. */
export type ActionCode = CodeOf<keyof typeof words>;

/** One act as people read it later. Neither part of it ever holds a protected value, only whether it changed. */
export interface Act {
  /** `<noun>.<verb>`, for example `extension.set`. */
  action: ActionCode;
  target: { kind: string; id: string };
  vmId?: string;
  /** What the target was and what it is now, as far as the act changed it; bounded in size when written. */
  before?: object | null;
  after?: object | null;
  /** What else there is to say: names of things that may be gone later, counts, reasons. */
  details?: Record<string, unknown>;
}
