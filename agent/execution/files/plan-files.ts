import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ExecutionEnvelope, executionLimits, type PlanFile } from '#protocol/executions/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { discard } from '../../folder/write-file.ts';
import { digestOf } from '../../handler/unpack.ts';
import { backoff } from '../../portal/backoff.ts';
import { type Portal, PortalRefusal } from '../../portal/portal.ts';
import { wait } from '../../portal/wait.ts';
import { CallError } from '../call-error.ts';
import { placeFile, unavailable } from '../place-file.ts';
import type { FileCache } from './cache.ts';
import { fetchUri, type UriRoute } from './fetch-uri.ts';

/** Where files of plans are fetched from. */
export interface FileSources {
  /** The route to addresses in plans; null if this machine fetches none. */
  route: UriRoute | null;
  download: Portal['downloadPackage'] | null;
  /** Maximum size of the cache; by default 1 GiB. */
  cacheBytes?: number;
}

export const noSources: FileSources = { route: null, download: null };

interface PlanFilesOptions extends FileSources {
  cache: FileCache;
  /** Digest, size and URL of each file of BodyType `ID`, by its id in the plan. */
  pinned: ExecutionEnvelope['files'];
  /** Aborted when the execution ends. */
  signal: AbortSignal;
}

/** Maximum number of attempts to download a file from the portal. */
const attempts = 3;

/** The files of one execution. Each file is fetched at its first use, and kept in the machine's cache (MU-7). */
export class PlanFiles {
  private readonly options: PlanFilesOptions;
  /** Digests of the files that were fetched from addresses, by address. */
  private readonly digests = new Map<string, string>();
  /** Digests of the cached files that this execution uses. */
  private readonly used = new Set<string>();

  constructor(options: PlanFilesOptions) {
    this.options = options;
  }

  /**
   * Places a file in a script's folder. A fetched file becomes a symbolic link into the cache. Throws CallError with
   * code 8 if this fails.
   */
  async link(id: string, file: PlanFile, path: string): Promise<void> {
    const cached = await this.cached(id, file);
    if (cached === null) placeFile(id, file, path);
    else this.put(id, path, () => symlinkSync(cached, path));
  }

  /**
   * Places a file as a copy, because interpreters follow the link of an entry point to find the script's folder, and
   * because a file outside of the execution's folder may outlive its copy in the cache. Throws CallError with code 8 if
   * this fails.
   */
  async copy(id: string, file: PlanFile, path: string, mode: number): Promise<void> {
    const cached = await this.cached(id, file);
    if (cached === null) placeFile(id, file, path, mode);
    else {
      this.put(id, path, () => {
        copyFileSync(cached, path);
        chmodSync(path, mode);
      });
    }
  }

  private put(id: string, path: string, write: () => void): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      removeFile(path);
      write();
    } catch (error) {
      throw unavailable(id, sentenceOf(error));
    }
  }

  /** Returns the path of a file in the cache; null if the plan contains the file. */
  private async cached(id: string, file: PlanFile): Promise<string | null> {
    if (file.bodyType === 'Text' || file.bodyType === 'Base64') return null;
    try {
      return file.bodyType === 'ID' ? await this.fromPortal(id) : await this.fromAddress(file);
    } catch (error) {
      if (error instanceof CallError) throw error;
      throw unavailable(id, sentenceOf(error));
    }
  }

  private async fromPortal(id: string): Promise<string> {
    const { cache, pinned, download } = this.options;
    const wanted = Object.hasOwn(pinned, id) ? pinned[id] : undefined;
    if (wanted === undefined || download === null) throw new Error('the portal did not offer it with this execution');
    const { sha256, size, url } = wanted;
    const found = await cache.find(sha256);
    if (found !== null) return this.keep(sha256, found);
    const incoming = cache.incoming(sha256);
    if (size > executionLimits.fileBytes) throw new Error('it is larger than this agent accepts');
    await this.download(url, incoming, size);
    return this.keep(sha256, await this.verified(incoming, sha256));
  }

  /** Downloads a file. Resumes the download if it is interrupted. */
  private async download(url: string, file: string, size: number): Promise<void> {
    const { signal, download } = this.options;
    const pauses = backoff(1, 10);
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (size === 0) discardIfThere(file);
        await download?.(url, file, size, signal);
        return;
      } catch (error) {
        const isFinal = error instanceof PortalRefusal && !error.passing;
        if (isFinal || attempt >= attempts || signal.aborted) throw error;
        await wait(pauses.next(), [signal]);
      }
    }
  }

  private async fromAddress({ body: uri, sha256: wanted }: PlanFile): Promise<string> {
    const { cache, route, signal } = this.options;
    if (route === null) throw new Error('this agent fetches no addresses');
    const known = wanted ?? this.digests.get(uri);
    const found = known === undefined ? null : await cache.find(known);
    if (known !== undefined && found !== null) return this.keep(known, found);
    const incoming = cache.incoming('address');
    discardIfThere(incoming);
    try {
      const digest = await fetchUri(route, { uri, file: incoming, maxBytes: executionLimits.fileBytes, signal });
      if (wanted !== null && digest !== wanted) throw new Error(`its SHA-256 is ${digest}, expected ${wanted}`);
      this.digests.set(uri, digest);
      return this.keep(digest, cache.add(incoming, digest, this.used));
    } finally {
      discardIfThere(incoming);
    }
  }

  private async verified(incoming: string, sha256: string): Promise<string> {
    const digest = await digestOf(incoming);
    if (digest === sha256) return this.options.cache.add(incoming, sha256, this.used);
    discard(incoming);
    throw new Error(`the portal sent other bytes: their SHA-256 is ${digest}, expected ${sha256}`);
  }

  private keep(sha256: string, path: string): string {
    this.used.add(sha256);
    return path;
  }
}

function discardIfThere(path: string): void {
  if (existsSync(path)) discard(path);
}

/** Deletes a file or a link. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
