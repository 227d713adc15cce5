import { AgentError } from '../agent-error.ts';
import { layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { openJournal } from '../journal.ts';
import { wait } from '../portal/wait.ts';
import { waagentFolderOf } from '../settings/waagent-folder.ts';
import { Agent } from '../work/agent.ts';
import { renewKeySignal } from './renew-key.ts';
import type { RunOptions } from './run.ts';

/** How long to wait for the portal to acknowledge all reports, in seconds. Unacknowledged reports stay on disk. */
const drainSeconds = 30;

/**
 * Fetches the goal state once, applies it, reports the result, and returns. Throws AgentError if the goal state cannot
 * be fetched.
 */
export async function once(options: RunOptions, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const layout = layoutOf(options.dir);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    const agent = new Agent({ ...options, waagentFolder: waagentFolderOf(options.waagentFolder), layout, journal });
    process.on(renewKeySignal, () => void agent.renewKey());
    const isThere = await agent.start();
    if (!isThere) {
      await agent.stop();
      throw new AgentError(
        'The portal did not respond, and nothing was done. Check that it is running, then try again.',
      );
    }
    await Promise.race([agent.lane.whenIdle(), wait(24 * 3600, [signal])]);
    await agent.reportEverything(drainSeconds);
    await agent.stop();
  } finally {
    unlock();
  }
}
