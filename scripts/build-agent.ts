import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleAgent } from '#server/agent-files/bundle-agent.ts';

// Builds the guest agent's single file: `npm run build:agent [-- FILE]`
const file = path.resolve(process.argv[2] ?? 'dist/annex-agent.mjs');
await mkdir(path.dirname(file), { recursive: true });
await bundleAgent(file);
const bytes = await readFile(file);
console.log(`${file}, ${Math.round(bytes.length / 1024)} KiB, needs Node 24.5 or later`);
console.log(`SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`);
