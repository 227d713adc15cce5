import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ExecutionEnvelope, executionEnvelope } from '#protocol/executions/index.ts';
import { crashPoint } from '../folder/crash-point.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, readJson, readText, sync, writeAtomically, writeJson } from '../folder/write-file.ts';
import { moment, momentNow } from '../watch/moment.ts';

const received = z.object({ text: z.string(), at: moment });

const progress = z.object({
  /** Number of times that the Body has begun. */
  run: z.int().default(0),
  /** Time when the Body first began. */
  begunAt: moment.nullable().default(null),
  /** ID of the boot in which the Body last began. */
  boot: z.string().default(''),
  /** Number of transcript bytes that the portal has. */
  sent: z.int().default(0),
  /** Restarts of the machine since the Body first began, and how many of them no call waited for. */
  reboots: z.int().default(0),
  unexpectedReboots: z.int().default(0),
  /** Argument of `api.expectReboots`; null if the Body has not called this function. */
  expectedReboots: z.int().nullable().default(null),
  /** The restart that `api.reboot` requested. It happens before the result is sent. */
  restart: z.object({ boot: z.string(), since: moment, isAsked: z.boolean() }).nullable().default(null),
});
/** The stored progress of an execution. */
export type StoredProgress = z.output<typeof progress>;

const answer = z.object({ planId: z.string(), stamp: z.int(), at: z.number(), result: z.string() });

const maxAnswers = 1_000;
const maxAnswerAge = 30 * 24 * 3600_000;

/** An execution that this machine has received and has not yet closed (see `Inbox.close`). */
export interface OpenExecution {
  folder: string;
  envelope: ExecutionEnvelope;
  /** The envelope as received. */
  text: string;
  /** The ID of the plan or, if the plan has none, the ID of the execution. */
  planId: string;
  receivedAt: z.output<typeof moment>;
  /** The result as JSON text; null until the execution has ended. */
  result: string | null;
}

/** Whether a received plan is new, already has a result, or is so old that its result may have been deleted. */
export type Reception = 'new' | 'answered' | 'stale';

/**
 * The executions on this machine's disk: at most one open execution, and the results of earlier ones. No plan is lost,
 * and a plan that has a result does not run again (MU-10, MU-11).
 */
export class Inbox {
  private readonly root: string;
  private readonly answers: string;

  constructor(layout: AgentLayout) {
    this.root = layout.executions;
    this.answers = join(layout.executions, 'answers');
  }

  /**
   * Returns the execution that an earlier run of the agent left open, or null. Deletes the folders of all other
   * executions, which an interrupted write or deletion can leave behind.
   */
  readOpen(): OpenExecution | null {
    if (!existsSync(this.root)) return null;
    let open: OpenExecution | null = null;
    for (const name of readdirSync(this.root)) {
      const folder = join(this.root, name);
      if (name === 'answers') continue;
      const found: OpenExecution | null = open === null ? readFolder(folder) : null;
      if (found === null) discard(folder);
      else open = found;
    }
    return open;
  }

  /** Writes an execution to disk. The agent acknowledges the execution only after this call. */
  receive(text: string, envelope: ExecutionEnvelope): { open: OpenExecution; reception: Reception } {
    const planId = planIdOf(envelope);
    const hash = hashOf(planId);
    const folder = join(this.root, `${envelope.stamp}-${hash.slice(0, 16)}`);
    const open: OpenExecution = { folder, envelope, text, planId, receivedAt: momentNow(), result: null };
    discardIfThere(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    crashPoint('receive an execution');
    writeJson(join(folder, 'plan.json'), { text, at: open.receivedAt } satisfies z.input<typeof received>);
    sync(this.root);
    const known = this.answerOf(planId);
    if (known !== null) {
      this.writeResult(open, known.result);
      return { open, reception: 'answered' };
    }
    return { open, reception: envelope.stamp <= this.clearedUpTo() ? 'stale' : 'new' };
  }

  /** Returns the stored progress of an execution, or the initial progress if none is stored. */
  readProgress({ folder }: OpenExecution): StoredProgress {
    const read = progress.safeParse(readJson(join(folder, 'progress.json')));
    return read.success ? read.data : progress.parse({});
  }

  writeProgress({ folder }: OpenExecution, value: StoredProgress): void {
    writeJson(join(folder, 'progress.json'), value);
  }

  /** Stores the result of an execution, also as the answer to later plans with the same ID. */
  conclude(open: OpenExecution, result: string): void {
    const { planId, envelope } = open;
    crashPoint('conclude an execution');
    mkdirSync(this.answers, { recursive: true, mode: 0o700 });
    const kept = { planId, stamp: envelope.stamp, at: Date.now(), result } satisfies z.input<typeof answer>;
    this.writeResult(open, result);
    writeAtomically(this.answerFile(planId), JSON.stringify(kept));
    this.prune();
  }

  /** Deletes an execution that the portal no longer waits for. */
  close({ folder }: OpenExecution): void {
    crashPoint('close an execution');
    discard(folder);
  }

  private writeResult(open: OpenExecution, result: string): void {
    writeAtomically(join(open.folder, 'result.json'), result);
    open.result = result;
  }

  private answerOf(planId: string): z.output<typeof answer> | null {
    const read = answer.safeParse(readJson(this.answerFile(planId)));
    return read.success && read.data.planId === planId ? read.data : null;
  }

  private answerFile(planId: string): string {
    return join(this.answers, `${hashOf(planId)}.json`);
  }

  /** Returns the highest stamp of all deleted answers, or -1. */
  private clearedUpTo(): number {
    const cleared = readJson(join(this.answers, 'cleared')) as { stamp?: unknown } | null;
    return typeof cleared?.stamp === 'number' ? cleared.stamp : -1;
  }

  /** Deletes old answers. First stores the highest stamp among them, so that none of their plans runs again. */
  private prune(): void {
    const files = readdirSync(this.answers)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(this.answers, name))
      .map((file) => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .sort((a, b) => b.at - a.at);
    const old = files.filter(({ at }, index) => index >= maxAnswers || Date.now() - at > maxAnswerAge);
    if (old.length === 0) return;
    const stamps = old.map(({ file }) => answer.safeParse(readJson(file)).data?.stamp ?? -1);
    writeJson(join(this.answers, 'cleared'), { stamp: Math.max(this.clearedUpTo(), ...stamps) });
    for (const { file } of old) discard(file);
  }
}

function readFolder(folder: string): OpenExecution | null {
  const file = received.safeParse(readJson(join(folder, 'plan.json')));
  if (!file.success) return null;
  const { text, at } = file.data;
  const envelope = executionEnvelope.safeParse(JSON.parse(text));
  if (!envelope.success) return null;
  const planId = planIdOf(envelope.data);
  const result = readText(join(folder, 'result.json'));
  return { folder, envelope: envelope.data, text, planId, receivedAt: at, result };
}

/** Returns the plan's ID if it is a nonempty text; otherwise, the ID of the execution. */
function planIdOf({ plan, id }: ExecutionEnvelope): string {
  const own = typeof plan === 'object' && plan !== null && Object.hasOwn(plan, 'ID') ? Reflect.get(plan, 'ID') : null;
  return typeof own === 'string' && own !== '' ? own : id;
}

const hashOf = (planId: string): string => createHash('sha256').update(planId).digest('hex');

function discardIfThere(folder: string): void {
  if (existsSync(folder)) discard(folder);
}
