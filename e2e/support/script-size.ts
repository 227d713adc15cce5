import { gzipSync } from 'node:zlib';
import type { APIRequestContext } from '@playwright/test';

/** Maximum size of the scripts that a page loads before any interaction: bytes after gzip. */
export const maxScriptBytes = 200_000;

/** Returns the gzipped size in bytes of the scripts that a page's document loads before any interaction. */
export async function scriptBytesOf(client: APIRequestContext, address: string): Promise<number> {
  const document = await (await client.get(address)).text();
  // Browsers that support modules do not load `nomodule` scripts.
  const tags = [...document.matchAll(/<script[^>]+src="([^"]+)"[^>]*>/g)].filter(([tag]) => !/\snomodule/i.test(tag));
  const sources = new Set(tags.map(([, source]) => source ?? ''));
  const bodies = await Promise.all([...sources].map(async (source) => (await client.get(source)).body()));
  return bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
}
