import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { searchLog } from '#server/domain/executions/index.ts';
import type { Deployment, Gateway } from '../deployment/deployment.ts';
import type { Agents } from '../load/agents.ts';
import { Connection } from '../load/connection.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { systemContext, vmIdOf } from './bench-plan.ts';
import { queueForAll } from './cycles.ts';

const pieceBytes = 1024 * 1024;
/** Number of VMs that send transcripts concurrently, and of pieces that each VM sends per measurement. */
const senders = 4;
const piecesPerRound = 8;
/** Number of pieces in the searched transcript. A transcript has at most 64 MiB. */
const searchedPieces = 63;
const searches = 3;

/** Measures how fast transcripts are stored, and how long a search without matches takes. */
export async function transcripts(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  const client = deployment.services.db.$client;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  await queueForAll(client);
  const machines = [];
  // The first VM sends the transcript that is searched.
  for (let n = 1; n <= senders + 1; n += 1) machines.push(await givenSender(gateway, agents, client, n));
  const [searched, ...sending] = machines;
  if (searched === undefined) throw new Error('no VM');
  const piece = pieceOf(1);
  const packed = gzipSync(piece);
  let at = 0;
  const stored = async (): Promise<number> => {
    const first = at;
    at += piecesPerRound;
    return megabytesPerSecond(sending.length, async (n) => {
      for (let k = first; k < first + piecesPerRound; k += 1) await sending[n]?.send(packed, k * pieceBytes);
    });
  };
  await stored();
  const taken = await alternate(Math.min(rounds, 5), stored, () => bareMegabytesPerSecond(packed));
  for (let k = 0; k < searchedPieces; k += 1) await searched.send(gzipSync(pieceOf(k)), k * pieceBytes);
  const found = await alternate(
    searches,
    () => searchSeconds(deployment, searched),
    () => zgrepSeconds(deployment, searched),
  );
  return [
    figureOf(
      {
        what: `Transcripts stored, parts of 1 MiB from ${senders} VMs`,
        unit: 'MB/s',
        against: 'gunzip, gzip, SHA-256 and fsync of the same parts in one process',
        target: { kind: 'at least', value: 0.5, of: 'ratio' },
      },
      taken,
    ),
    figureOf(
      {
        what: `Search of ${searchedPieces} MiB for a text that does not occur`,
        unit: 's',
        against: 'zgrep -ci over the same parts',
        target: { kind: 'at most', value: 4, of: 'ratio' },
      },
      found,
    ),
  ];
}

interface Sender {
  vmId: string;
  id: string;
  /** Sends a compressed piece of the transcript. */
  send(packed: Buffer, start: number): Promise<void>;
}

/** Takes the n-th VM's queued execution, as an agent does. Returns a sender of its transcript. */
async function givenSender({ host, port }: Gateway, agents: Agents, client: pg.Pool, n: number): Promise<Sender> {
  const connection = new Connection(host, port);
  const { body } = await new Promise<{ body: string }>((resolve) =>
    connection.send(agents.execution(n, 'GET', 'next'), resolve),
  );
  connection.close();
  const { id } = JSON.parse(body) as { id: string };
  const path = `/agent/v1/executions/${id}/transcript`;
  return {
    vmId: await vmIdOf(client, n),
    id,
    async send(packed, start) {
      const headers = {
        ...agents.headersOf(n),
        'content-encoding': 'gzip',
        'content-length': packed.length,
        'content-range': `bytes ${start}-${start + pieceBytes - 1}/*`,
      };
      const status = await new Promise<number>((resolve, reject) => {
        const sent = request({ host, port, path, method: 'POST', headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.on('error', reject).end(packed);
      });
      if (status !== 204) throw new Error(`A piece of a transcript was answered with ${status}.`);
    },
  };
}

/** Returns 1 MiB of records of a transcript. Half of each line is random, so that it compresses as real logs do. */
function pieceOf(seed: number): Buffer {
  const lines: string[] = [];
  let size = 0;
  for (let n = 0; size < pieceBytes; n += 1) {
    const text = `step ${n} of part ${seed}: copied ${randomBytes(24).toString('hex')} to the share`;
    const line = `[${n},"out",1,${JSON.stringify(text)}]\n`;
    lines.push(line);
    size += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, pieceBytes);
}

async function megabytesPerSecond(workers: number, work: (n: number) => Promise<void>): Promise<number> {
  const began = performance.now();
  await Promise.all(Array.from({ length: workers }, (_, n) => work(n)));
  const bytes = workers * piecesPerRound * pieceBytes;
  return bytes / 1_000_000 / ((performance.now() - began) / 1_000);
}

/** Measures the minimum work needed to store pieces, in one process. */
async function bareMegabytesPerSecond(packed: Buffer): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-pieces-'));
  try {
    return await megabytesPerSecond(senders, async (n) => {
      for (let k = 0; k < piecesPerRound; k += 1) {
        const bytes = await promisify(gzip)(await promisify(gunzip)(packed));
        createHash('sha256').update(bytes).digest();
        const file = await open(join(folder, `${n}-${k}`), 'w');
        await file.writeFile(bytes);
        await file.sync();
        await file.close();
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function searchSeconds({ services }: Deployment, { vmId, id }: Sender): Promise<number> {
  const began = performance.now();
  const q = 'this text is not there';
  for (let row: number | null = 0; row !== null; ) {
    const { found, next } = await searchLog(systemContext(services), { vmId, executionId: id, q, row });
    if (found.length > 0) throw new Error('The text was found.');
    row = next;
  }
  return (performance.now() - began) / 1_000;
}

async function zgrepSeconds({ services, folder }: Deployment, { vmId, id }: Sender): Promise<number> {
  const { rows } = await services.db.$client.query<{ sha256: string }>(
    `select p.sha256 from output_pieces p join command_outputs o on o.vm_id = p.vm_id and o.id = p.output_id
      where o.vm_id = $1 and o.execution_id = $2`,
    [vmId, id],
  );
  const files = rows.map(({ sha256 }) => join(folder, 'blobs', sha256.slice(0, 2), sha256));
  const began = performance.now();
  // zgrep exits with 1 if nothing is found.
  await promisify(execFile)('zgrep', ['-ci', 'this text is not there', ...files]).catch((error: { code?: unknown }) => {
    if (error.code !== 1) throw error;
  });
  return (performance.now() - began) / 1_000;
}
