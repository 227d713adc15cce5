import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#server/platform/env.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { releaseVersion } from '#server/platform/release.ts';

/** The folder in which the installer puts programs. The systemd unit contains this path too. */
const programs = '/opt/annex-agent';

/** The files that a machine downloads to get the guest agent. */
export interface AgentFiles {
  agent: { name: string; version: string; bytes: Buffer; sha256: string };
  /** The Node.js binary that runs this process. */
  node: { name: string; path: string; version: string; system: string; sha256: string; size: number };
  /** A systemd unit for the installer's default folders. */
  unit: string;
}

/**
 * Returns a function that creates the files on the first call and caches them. After a failure, the next call tries
 * again.
 */
export function agentFilesOnce(): () => Promise<AgentFiles> {
  let files: Promise<AgentFiles> | null = null;
  return () => {
    files ??= createAgentFiles().catch((error: unknown) => {
      files = null;
      throw error;
    });
    return files;
  };
}

async function createAgentFiles(): Promise<AgentFiles> {
  const [{ bytes, unit }, node] = await Promise.all([bundle(), ownNode()]);
  const agent = {
    name: `agent-${releaseVersion}.mjs`,
    version: releaseVersion,
    bytes,
    sha256: sha256Hex(bytes),
  };
  return { agent, node, unit };
}

async function bundle(): Promise<{ bytes: Buffer; unit: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'annex-agent-file-'));
  const file = path.join(folder, 'annex-agent.mjs');
  const env = childEnvironment('build');
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { env });
  try {
    await node(path.join(import.meta.dirname, 'bundle-main.ts'), file);
    const program = [`${programs}/node`, `${programs}/annex-agent.mjs`];
    const { stdout } = await node(file, 'install-unit', '--dir', '/var/lib/annex-agent', '--program', ...program);
    return { bytes: await readFile(file), unit: stdout };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ownNode(): Promise<AgentFiles['node']> {
  const file = process.execPath;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  const { size } = await stat(file);
  const version = process.versions.node;
  const system = `${process.platform}-${process.arch}`;
  return { name: `node-${version}-${system}`, path: file, version, system, sha256: hash.digest('hex'), size };
}
