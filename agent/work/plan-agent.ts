import type { AmqpSettings } from '../channel/amqp-settings.ts';
import { type FileSettings, openFileSources } from '../execution/files/file-sources.ts';
import type { AgentLayout } from '../folder/layout.ts';
import type { Journal } from '../journal.ts';
import { bootIdFile, readBootId } from '../watch/moment.ts';
import { ExecutionWork } from './executions/execution-work.ts';
import { keepGoing } from './keep-going.ts';
import { Lane } from './lane.ts';

export interface PlanAgentOptions extends FileSettings {
  layout: AgentLayout;
  journal: Journal;
  amqp: AmqpSettings;
  amqpTag?: string;
  executionPlans?: 'on' | 'off';
  python?: string;
  bootIdFile?: string;
  rebootCommand?: string;
  environment: Record<string, string | undefined>;
}

/** Time in which a result can still be sent when the agent stops, in seconds. */
const drainSeconds = 1;

/** Runs the agent of a machine that is not enrolled with a portal: it accepts execution plans only over AMQP. */
export async function runPlanAgent(options: PlanAgentOptions, signal: AbortSignal): Promise<void> {
  const { journal } = options;
  const executions = new ExecutionWork({
    ...options,
    portal: null,
    sources: openFileSources(options, null),
    tag: options.amqpTag,
    isOn: options.executionPlans !== 'off',
    boot: readBootId(options.bootIdFile ?? bootIdFile),
    goals: () => ({ newest: null, rested: null }),
    wake: () => lane.wake(),
  });
  const lane = new Lane([executions]);
  executions.begin();
  const keeping = { journal, signal };
  const works = [
    keepGoing('Sending executions', () => executions.send(), keeping),
    keepGoing('Taking plans over AMQP', () => executions.receiveOverAmqp(), keeping),
    keepGoing('Work on execution plans', () => lane.run(), keeping),
  ];
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  executions.stop();
  lane.stop();
  await executions.drain(drainSeconds);
  executions.stopSending();
  await Promise.all(works);
}
