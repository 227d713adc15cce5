import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { compareVersions } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { lockUpdates } from '../folder/lock.ts';
import { loadIdentity } from '../identity/identity.ts';
import type { Caller } from '../portal/call.ts';
import { wait } from '../portal/wait.ts';
import { describeServedAgent, downloadAgent, type ServedAgent } from '../update/served-agent.ts';
import { swapAgent } from '../update/swap.ts';
import { hasPolled, settleTrial, sha256Of, type UpdateTrial } from '../update/trial.ts';
import { agentVersion } from '../version.ts';

export interface UpdateOptions {
  dir: string;
  /** How long the new agent may take to poll. */
  pollSeconds: number;
  /** Shell command that restarts the agent; by default, systemd restarts it. */
  restartCommand?: string;
  /** Path of this agent's file. */
  program: string;
  call: Caller;
  /** Stops the update. If the new agent is already in place, the previous agent is restored. */
  signal: AbortSignal;
}

const systemdRestart = 'systemctl restart annex-agent';
const run = promisify(execFile);

/**
 * Replaces this agent with the agent that the portal serves, and restarts it. Restores the previous agent if the new
 * agent does not poll in time. Does nothing if this agent is up to date. Throws AgentError if the update fails.
 */
export async function update(options: UpdateOptions, print: (line: string) => void): Promise<void> {
  const layout = layoutOf(options.dir);
  const { portal } = loadIdentity(layout);
  const machine = { layout, portal, program: programOf(options.program), restart: restartOf(options.restartCommand) };
  // Two updates would write the same file.
  const release = lockUpdates(layout);
  try {
    await updateLocked(machine, options, print);
  } finally {
    release();
  }
}

interface UpdatedMachine {
  layout: AgentLayout;
  portal: string;
  program: string;
  restart: () => Promise<string | null>;
}

async function updateLocked(
  { layout, portal, program, restart }: UpdatedMachine,
  { call, pollSeconds, signal }: UpdateOptions,
  print: (line: string) => void,
): Promise<void> {
  if (settleTrial(layout, Date.now()) === 'pending') {
    throw new AgentError('Another update has not ended yet. Wait until its new agent has polled, or for two minutes.');
  }
  const served = await describeServedAgent(portal, call);
  const from = sha256Of(program) ?? '';
  printNode(served, print);
  if (from === served.sha256) return print(`The agent ${agentVersion} is up to date.`);
  requireNewer(served, portal);
  const incoming = join(dirname(program), `incoming-${basename(program)}`);
  print(`Fetching the agent ${served.version} from ${portal}.`);
  await downloadAgent(portal, served, incoming, { call, signal });
  await requireRunning(incoming, served.version, pollSeconds, signal);
  const startedAt = Date.now();
  const trial = { program, from, to: served.sha256, startedAt, deadline: startedAt + pollSeconds * 1000 };
  swapAgent(layout, incoming, trial);
  print(
    `Restarting with the agent ${served.version}. If it does not poll in ${pollSeconds} s, ${agentVersion} is restored.`,
  );
  const trouble = await restart();
  if (trouble === null && (await polls(layout, trial, signal))) {
    settleTrial(layout, Date.now());
    return print(`The agent ${served.version} is running and has polled the portal.`);
  }
  const late = signal.aborted
    ? 'The update was interrupted.'
    : `The agent ${served.version} did not poll the portal in ${pollSeconds} s.`;
  if (settleTrial(layout, Number.POSITIVE_INFINITY) === 'kept') {
    return print(`The agent ${served.version} is running and has polled the portal.`);
  }
  const second = await restart();
  throw new AgentError(
    `${trouble ?? late} The agent ${agentVersion} is installed again${second === null ? ' and was restarted' : `, but could not be restarted: ${second}`}. See the journal for the reason.`,
  );
}

/** Returns the path of this agent's file. Throws AgentError if the file cannot be replaced. */
function programOf(given: string): string {
  const program = realpathSync(given);
  if (program.endsWith('.ts')) {
    throw new AgentError('This agent runs from a clone of the repository. Update the clone instead.');
  }
  try {
    accessSync(dirname(program), constants.W_OK);
  } catch (error) {
    throw new AgentError(`${program} cannot be replaced: ${sentenceOf(error)}. Run this as root.`);
  }
  return program;
}

function restartOf(command: string | undefined): () => Promise<string | null> {
  if (command === undefined && !existsSync('/run/systemd/system')) {
    throw new AgentError(
      'systemd is not running, so the agent cannot be restarted. Set --restart-command, for example to a command of your service manager.',
    );
  }
  return async () => {
    try {
      await run('/bin/sh', ['-c', command ?? systemdRestart]);
      return null;
    } catch (error) {
      return `The agent could not be restarted: ${sentenceOf(error).trim()}.`;
    }
  };
}

/** Prints a notice if the portal serves a different Node for this system, because an update replaces only the agent. */
function printNode({ node }: ServedAgent, print: (line: string) => void): void {
  const own = process.versions.node;
  if (node?.system !== `${process.platform}-${process.arch}` || node.version === own) return;
  print(
    `The portal serves Node ${node.version}; this agent runs with Node ${own}, which an update keeps. To replace Node, run the installer again.`,
  );
}

function requireNewer({ version, minimumNode }: ServedAgent, portal: string): void {
  if (compareVersions(version, agentVersion) < 0) {
    throw new AgentError(
      `${portal} serves the agent ${version}, which is older than this one, ${agentVersion}. Nothing was changed.`,
    );
  }
  if (compareVersions(process.versions.node, minimumNode) < 0) {
    throw new AgentError(
      `The agent ${version} needs Node ${minimumNode} or later; this is ${process.versions.node}. Run the installer again, which also updates Node.`,
    );
  }
}

/**
 * Starts the downloaded agent once, so that a file that cannot run is detected before it replaces the current agent.
 */
async function requireRunning(incoming: string, version: string, seconds: number, signal: AbortSignal): Promise<void> {
  try {
    const limit = { timeout: seconds * 1000, killSignal: 'SIGKILL', signal } as const;
    const { stdout } = await run(process.execPath, [incoming, '--version'], limit);
    if (stdout.trim() === version) return;
    throw new AgentError(`it says that its version is ${stdout.trim()}`);
  } catch (error) {
    rmSync(incoming, { force: true });
    if (signal.aborted) throw new AgentError('The update was interrupted. Nothing was changed.');
    const [sentence = ''] = sentenceOf(error).trim().split('\n').slice(-1);
    throw new AgentError(`The agent ${version} does not run on this machine: ${sentence}. Nothing was changed.`);
  }
}

/** Waits until the new agent has polled. Returns false after the deadline, or if the signal aborts. */
async function polls(layout: AgentLayout, trial: UpdateTrial, signal: AbortSignal): Promise<boolean> {
  while (Date.now() < trial.deadline && !signal.aborted) {
    if (hasPolled(layout, trial)) return true;
    await wait(0.2, [signal]);
  }
  return hasPolled(layout, trial);
}
