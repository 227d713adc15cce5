import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsumeMessage } from 'amqplib';
import { type ExecutionCall, executionEnvelope } from '#protocol/executions/index.ts';
import { envelopeOf } from '../channel/plan-message.ts';
import type { FileSources } from '../execution/files/plan-files.ts';
import { Inbox, type OpenExecution } from '../execution/inbox.ts';
import { type FoundPlatforms, findPlatforms } from '../execution/platforms.ts';
import { RunningExecution } from '../execution/run-execution.ts';
import { layoutOf } from '../folder/layout.ts';
import { momentNow } from '../watch/moment.ts';

/** The outcome of a plan on a machine without a portal. */
export interface PlanRun {
  code: number;
  /** The Body of the result. */
  body: unknown;
  text: string;
  rows: unknown[][];
  calls: ExecutionCall[];
  journal: string[];
}

export interface RunTerms {
  timeoutSeconds?: number;
  maxCalls?: number;
  /** Where files are fetched from; by default, nowhere. */
  sources?: FileSources;
  /** Further properties of the envelope. */
  envelope?: object;
}

export interface PlanMachine {
  dir: string;
  /**
   * Starts a plan, given as JSON text or as an object, to which `FormatVersion` is added. `end` resolves to the
   * outcome, or to null if the plan was stopped.
   */
  begin(plan: object | string, terms?: RunTerms): { running: RunningExecution; end: Promise<PlanRun | null> };
  run(plan: object | string, terms?: RunTerms): Promise<PlanRun>;
  /** Runs the plan in a message from an AMQP broker. */
  runMessage(content: Buffer): Promise<PlanRun>;
  /** Runs a plan with this Body. `more` has other properties of the plan. */
  body(body: string, more?: object): Promise<PlanRun>;
  close(): void;
}

/**
 * Returns a machine that runs plans. `path` is the PATH of its programs. By default, the machine uses the platforms in
 * this PATH, such as the real Python and bash.
 */
export async function planMachine(found?: FoundPlatforms, path = process.env.PATH): Promise<PlanMachine> {
  const dir = mkdtempSync(join(tmpdir(), 'annex-plans-'));
  const layout = layoutOf(dir);
  const inbox = new Inbox(layout);
  const platforms = found ?? (await findPlatforms({ PATH: path }));
  let stamp = 0;

  const receive = (plan: string, { timeoutSeconds = 60, envelope }: RunTerms): OpenExecution => {
    stamp += 1;
    const id = `execution-${stamp}`;
    const lead = JSON.stringify({ protocol: 1, id, stamp, turn: stamp, timeoutSeconds, files: {}, ...envelope });
    const text = `${lead.slice(0, -1)},"plan":${plan}}`;
    return inbox.receive(text, executionEnvelope.parse(JSON.parse(text))).open;
  };

  const receiveMessage = (content: Buffer): OpenExecution => {
    stamp += 1;
    const properties = { messageId: `message-${stamp}` };
    const message = { content, properties, fields: {} } as ConsumeMessage;
    const read = envelopeOf(message, { turn: stamp, now: new Date() });
    if (read === null) throw new Error('the message was discarded');
    return inbox.receive(read.text, read.envelope).open;
  };

  const machine: PlanMachine = {
    dir,
    begin(plan, terms = {}) {
      const text = typeof plan === 'string' ? plan : JSON.stringify({ FormatVersion: '2.0.0', ...plan });
      return beginOpen(receive(text, terms), terms);
    },
    async run(plan, terms) {
      return endOf(machine.begin(plan, terms));
    },
    runMessage: (content) => endOf(beginOpen(receiveMessage(content))),
    body: (Body, more = {}) => machine.run({ Body, ...more }),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };

  const beginOpen: (open: OpenExecution, terms?: RunTerms) => ReturnType<PlanMachine['begin']> = (open, terms = {}) => {
    const { maxCalls, sources } = terms;
    const calls: ExecutionCall[] = [];
    const journal: string[] = [];
    const note = (line: string) => journal.push(line);
    const running = new RunningExecution({
      ...{ layout, found: platforms, environment: { PATH: path }, open, why: 'first' },
      journal: { info: note, warn: note, note },
      progress: { ...inbox.readProgress(open), run: 1, begunAt: momentNow() },
      boot: '',
      saveProgress: () => {},
      ...{ maxCalls, sources },
      onCall: (call) => calls.push(call),
      onBegin: () => {},
    });
    const end = running.run().then((ended): PlanRun | null => {
      const file = join(open.folder, 'transcript.jsonl');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      const rows = lines.map((line) => JSON.parse(line) as unknown[]);
      inbox.close(open);
      if (ended === null) return null;
      return { code: ended.code, body: JSON.parse(ended.body), text: ended.body, rows, calls, journal };
    });
    return { running, end };
  };
  return machine;
}

async function endOf({ end }: ReturnType<PlanMachine['begin']>): Promise<PlanRun> {
  const ended = await end;
  if (ended === null) throw new Error('the execution was stopped');
  return ended;
}
