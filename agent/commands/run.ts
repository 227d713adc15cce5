import { layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { loadIdentity } from '../identity/identity.ts';
import { type JournalOptions, openJournal } from '../journal.ts';
import { waagentFolderOf } from '../settings/waagent-folder.ts';
import { agentVersion } from '../version.ts';
import { Agent, type AgentOptions } from '../work/agent.ts';
import { renewKeySignal } from './renew-key.ts';

export interface RunOptions
  extends JournalOptions,
    Pick<
      AgentOptions,
      | 'heartbeatSeconds'
      | 'statusSeconds'
      | 'statusAfterConclusion'
      | 'rebootCommand'
      | 'bootIdFile'
      | 'disableOnExit'
      | 'call'
      | 'environment'
    > {
  dir: string;
  /** A path, or `none`. */
  waagentFolder?: string;
}

/**
 * Runs the agent until the signal aborts. Once the agent has started, neither an invalid file nor a response of the
 * portal ends it.
 */
export async function run(options: RunOptions, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const layout = layoutOf(options.dir);
  const identity = loadIdentity(layout);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    journal.info(`Annex agent ${agentVersion} for VM ${identity.vmId}, portal ${identity.portal}.`);
    const agent = new Agent({ ...options, waagentFolder: waagentFolderOf(options.waagentFolder), layout, journal });
    // While this process holds the lock, `renew-key` may signal it. Without a listener, the signal would end the
    // process.
    process.on(renewKeySignal, () => void agent.renewKey());
    await agent.start();
    if (!signal.aborted) {
      const polling = agent.poll();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await agent.stop();
      await polling;
    } else await agent.stop();
    journal.info(
      options.disableOnExit ? 'Ended.' : 'Stopped. Services of handlers keep running; start run to continue.',
    );
  } finally {
    unlock();
  }
}
