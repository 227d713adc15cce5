/** A script of a test plan: its text, or its text with other properties. */
export type TestScript = string | { text: string; Type?: string; Options?: object };

export interface TestPlan {
  body: string;
  scripts?: Record<string, TestScript>;
  /** Other properties of the plan. */
  more?: object;
  timeoutSeconds?: number;
}

/** Returns the envelope of an execution. `turn` is also its stamp. Scripts have the type Bash by default. */
export function planEnvelope(turn: number, { body, scripts = {}, more = {}, timeoutSeconds = 60 }: TestPlan) {
  const all = Object.entries(scripts).map(
    ([name, script]) => [name, typeof script === 'string' ? { text: script } : script] as const,
  );
  return {
    protocol: 1,
    id: `execution-${turn}`,
    stamp: turn,
    turn,
    timeoutSeconds,
    plan: {
      FormatVersion: '2.0.0',
      ID: `plan-${turn}`,
      Body: body,
      Scripts: Object.fromEntries(
        all.map(([name, { Type = 'Bash', Options = {} }]) => [name, { Type, EntryPoint: name, Options }]),
      ),
      Files: Object.fromEntries(
        all.map(([name, { text }]) => [name, { Name: `${name}.txt`, BodyType: 'Text', Body: text }]),
      ),
      ...more,
    },
    files: {},
  };
}

/** A result as the agent sent it. */
export interface SentResult {
  ID: string;
  ErrorCode: number;
  Body: unknown;
}

export const resultIn = (text: string): SentResult => JSON.parse(text) as SentResult;

/** Returns the rows of a transcript, without their times. */
export function rowsIn(transcript: Buffer | undefined): unknown[][] {
  const lines = (transcript ?? '').toString().split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as unknown[]).slice(1));
}
