import { AgentError } from '../agent-error.ts';
import { type AmqpOptions, type AmqpSettings, amqpSettingsOf } from '../channel/amqp-settings.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { loadIdentity, readIdentityFile } from '../identity/identity.ts';
import { type JournalOptions, openJournal } from '../journal.ts';
import { waagentFolderOf } from '../settings/waagent-folder.ts';
import { hasPolled, noteFirstPoll, readTrial, settleTrial, sha256Of } from '../update/trial.ts';
import { agentVersion } from '../version.ts';
import { Agent, type AgentOptions } from '../work/agent.ts';
import { runPlanAgent } from '../work/plan-agent.ts';
import { renewKeySignal } from './renew-key.ts';

export interface RunOptions
  extends JournalOptions,
    AmqpOptions,
    Pick<
      AgentOptions,
      | 'heartbeatSeconds'
      | 'statusSeconds'
      | 'statusAfterConclusion'
      | 'rebootCommand'
      | 'bootIdFile'
      | 'executionPlans'
      | 'python'
      | 'amqpTag'
      | 'planPrivateHosts'
      | 'planCacheMegabytes'
      | 'route'
      | 'disableOnExit'
      | 'call'
      | 'environment'
    > {
  dir: string;
  /** A path, or `none`. */
  waagentFolder?: string;
  /** Path of this agent's file; absent in tests that start no process. */
  program?: string;
}

/**
 * Runs the agent until the signal aborts. Once the agent has started, neither an invalid file nor a response from the
 * portal stops it.
 */
export async function run(options: RunOptions, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const layout = layoutOf(options.dir);
  const amqp = amqpSettingsOf(options);
  if (amqp !== null && readIdentityFile(layout) === null) return runWithoutPortal(options, amqp, print, signal);
  const identity = loadIdentity(layout);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    journal.info(`Annex agent ${agentVersion} for VM ${identity.vmId}, portal ${identity.portal}.`);
    const trial = watchTrial(layout, options.program);
    const agent = new Agent({
      ...options,
      waagentFolder: waagentFolderOf(options.waagentFolder),
      amqp,
      layout,
      journal,
      onPoll() {
        trial.onPoll();
        describe();
      },
    });
    let isDescribed = false;
    const describe = (): void => {
      if (isDescribed) return;
      isDescribed = true;
      void agent.describe().then((isDone) => {
        isDescribed = isDone;
      });
    };
    // While this process holds the lock, `renew-key` may signal it. Without a listener, the signal would end the
    // process.
    process.on(renewKeySignal, () => void agent.renewKey());
    await agent.start();
    if (!signal.aborted) {
      const polling = agent.poll();
      const stopped = new Promise<'stopped'>((resolve) =>
        signal.addEventListener('abort', () => resolve('stopped'), { once: true }),
      );
      const end = await Promise.race([stopped, trial.returned]);
      await agent.stop();
      await polling;
      if (end === 'returned') {
        journal.warn(
          'This agent did not poll the portal in time after an update. The previous one is installed again.',
        );
        throw new AgentError('The previous agent is installed again. Start it.');
      }
    } else await agent.stop();
    journal.info(
      options.disableOnExit ? 'Ended.' : 'Stopped. Services of handlers keep running; start run to continue.',
    );
  } finally {
    unlock();
  }
}

async function runWithoutPortal(
  options: RunOptions,
  amqp: AmqpSettings,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const layout = layoutOf(options.dir);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    journal.info(`Annex agent ${agentVersion}, without a portal, broker ${amqp.host}, queue ${amqp.inputQueue}.`);
    await runPlanAgent({ ...options, amqp, layout, journal }, signal);
    journal.info('Stopped.');
  } finally {
    unlock();
  }
}

/** How long an agent on trial waits after the deadline, in milliseconds, so that `update` can end the trial first. */
const afterDeadlineMs = 10_000;

/**
 * Records the first poll, which shows that this agent works. If this agent is on trial after an update and does not
 * poll in time, restores the previous agent and resolves `returned`.
 */
function watchTrial(layout: AgentLayout, program: string | undefined) {
  const own = program === undefined ? null : sha256Of(program);
  let isNoted = own === null;
  const onPoll = (): void => {
    if (isNoted || own === null) return;
    try {
      noteFirstPoll(layout, own);
      isNoted = true;
    } catch {
      // A full disk must not look like a portal that does not respond. The next poll retries the write.
    }
  };
  const returned = new Promise<'returned'>((resolve) => {
    const trial = readTrial(layout);
    if (trial === null || trial.to !== own || hasPolled(layout, trial)) return;
    const end = () => settleTrial(layout, Date.now()) === 'returned' && resolve('returned');
    setTimeout(end, Math.max(0, trial.deadline - Date.now()) + afterDeadlineMs).unref();
  });
  return { onPoll, returned };
}
