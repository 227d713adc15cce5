import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fstatSync, openSync, read as readCallback } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#server/platform/env.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { releaseVersion } from '#server/platform/release.ts';
import type { ServedFile } from './agent-downloads.ts';

const readFrom = promisify(readCallback);

/** The folder in which the installer puts programs. The systemd unit contains this path too. */
const programs = '/opt/annex-agent';

/** The files that a machine downloads to get the guest agent. */
export interface AgentFiles {
  agent: ServedFile & { name: string; version: string; sha256: string };
  /**
   * The Node.js binary, by default the one that runs this process. `read` reads the file that was hashed, even if an update of Node has
   * replaced the file at this path since.
   */
  node: ServedFile & { name: string; version: string; system: string; sha256: string };
  /** A systemd unit for the installer's default folders. */
  unit: string;
}

/**
 * Returns a function that creates the files on the first call and caches them. After a failure, the next call tries
 * again. `nodeFile` is the Node.js binary that machines download.
 */
export function agentFilesOnce(nodeFile: string): () => Promise<AgentFiles> {
  let files: Promise<AgentFiles> | null = null;
  return () => {
    files ??= createAgentFiles(nodeFile).catch((error: unknown) => {
      files = null;
      throw error;
    });
    return files;
  };
}

async function createAgentFiles(nodeFile: string): Promise<AgentFiles> {
  const [{ bytes, unit }, node] = await Promise.all([bundle(), ownNode(nodeFile)]);
  const agent = {
    name: `agent-${releaseVersion}.mjs`,
    version: releaseVersion,
    sha256: sha256Hex(bytes),
    size: bytes.length,
    read: (at: number, length: number) => bytes.subarray(at, at + length),
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

async function ownNode(nodeFile: string): Promise<AgentFiles['node']> {
  const version = process.versions.node;
  const system = `${process.platform}-${process.arch}`;
  // Stays open until the process ends, because an update of Node may replace the file at this path.
  const file = openSync(nodeFile, 'r');
  const { size } = fstatSync(file);
  const read = async (at: number, length: number): Promise<Uint8Array> => {
    const { bytesRead, buffer } = await readFrom(file, Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw new Error('the file of Node is shorter than it was');
    return buffer.subarray(0, bytesRead);
  };
  const hash = createHash('sha256');
  for (let at = 0; at < size; ) {
    const chunk = await read(at, Math.min(1 << 20, size - at));
    hash.update(chunk);
    at += chunk.length;
  }
  return { name: `node-${version}-${system}`, version, system, sha256: hash.digest('hex'), size, read };
}
