import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page, request } from '@playwright/test';
import { chromiumLaunch } from '../e2e/support/browser.ts';
import { readFlags } from './read-flags.ts';

const usage = `Measures the speed of a VM's page, in Chromium with a CPU slowed down four times and without a cache.

  npm run measure:vm -- [--url http://localhost:3000] --email … --password … [--vm files-1] [--runs 5]

ANNEX_URL, ANNEX_BOOTSTRAP_EMAIL and ANNEX_BOOTSTRAP_PASSWORD can replace the flags. Exits with 1 if a limit is exceeded.`;

const flags = readFlags(usage, {
  options: {
    url: { type: 'string', default: process.env.ANNEX_URL ?? 'http://localhost:3000' },
    email: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_EMAIL },
    password: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_PASSWORD },
    vm: { type: 'string', default: 'files-1' },
    runs: { type: 'string', default: '5' },
    slowdown: { type: 'string', default: '4' },
  },
});

const idleMs = 2_000;

interface Figure {
  name: string;
  unit: 'ms' | 'kB' | '';
  /** The limit; if undefined, the value is only printed. */
  limit?: number;
  digits?: number;
}

const figures = {
  firstPaint: { name: 'First contentful paint', unit: 'ms', limit: 1_800 },
  largestPaint: { name: 'Largest contentful paint', unit: 'ms', limit: 2_500 },
  blocking: { name: 'Total blocking time', unit: 'ms', limit: 200 },
  longTasks: { name: 'Long tasks', unit: '' },
  longestTask: { name: 'Longest task', unit: 'ms' },
  shift: { name: 'Cumulative layout shift', unit: '', limit: 0.1, digits: 3 },
  firstScript: { name: 'Script of the first load, gzip', unit: 'kB', limit: 200, digits: 1 },
  allScript: { name: 'Script with what comes later, gzip', unit: 'kB', digits: 1 },
  requests: { name: 'Requests', unit: '' },
  nodes: { name: 'DOM nodes', unit: '', limit: 1_500 },
} as const satisfies Record<string, Figure>;

type Measured = Record<keyof typeof figures, number>;

/** Records the page's timings from inside the page. Runs before the page's own scripts. */
function observe(): void {
  const seen = { largest: 0, shift: 0, tasks: [] as { start: number; length: number }[] };
  Object.assign(window, { measured: seen });
  const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('largest-contentful-paint', (entry) => {
    seen.largest = entry.startTime;
  });
  watch('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
    if (!hadRecentInput) seen.shift += value;
  });
  watch('longtask', ({ startTime, duration }) => seen.tasks.push({ start: startTime, length: duration }));
}

interface Seen {
  largest: number;
  shift: number;
  tasks: { start: number; length: number }[];
  firstPaint: number;
  nodes: number;
  /** URLs of the scripts that the document names. */
  scripts: string[];
}

/** Reads the recorded timings, and fetches the document again to list its scripts. */
async function readPage(page: Page): Promise<Seen> {
  return page.evaluate(async () => {
    const { measured } = window as unknown as { measured: Pick<Seen, 'largest' | 'shift' | 'tasks'> };
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    const html = await fetch(location.href, { headers: { accept: 'text/html' } }).then((answer) => answer.text());
    const source = new DOMParser().parseFromString(html, 'text/html');
    const scripts = [...source.querySelectorAll<HTMLScriptElement>('script[src]')].map(({ src }) => src);
    return {
      ...measured,
      firstPaint: paint?.startTime ?? 0,
      nodes: document.getElementsByTagName('*').length,
      scripts,
    };
  });
}

type Storage = Awaited<ReturnType<Awaited<ReturnType<typeof request.newContext>>['storageState']>>;

async function measure(browser: Browser, storageState: Storage, address: string): Promise<Measured> {
  const context = await browser.newContext({
    baseURL: flags.url,
    storageState,
    viewport: { width: 1440, height: 900 },
    locale: 'en',
  });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: Number(flags.slowdown) });
  await page.addInitScript(observe);
  const scripts = new Map<string, number>();
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  page.on('response', async (response) => {
    if (response.request().resourceType() !== 'script') return;
    const body = await response.body().catch(() => null);
    if (body !== null) scripts.set(response.url(), gzipSync(body).length);
  });
  await page.goto(address, { waitUntil: 'load' });
  await page.locator('svg[role="group"]').waitFor();
  // Waits so that late changes are measured too.
  await delay(idleMs);
  const counted = requests;
  const seen = await readPage(page);
  await context.close();
  const after = seen.tasks.filter(({ start }) => start >= seen.firstPaint);
  const sum = (addresses: Iterable<string>) =>
    [...addresses].reduce((total, one) => total + (scripts.get(one) ?? 0), 0) / 1_000;
  return {
    firstPaint: seen.firstPaint,
    largestPaint: seen.largest,
    blocking: after.reduce((total, { length }) => total + Math.max(0, length - 50), 0),
    longTasks: seen.tasks.length,
    longestTask: Math.max(0, ...seen.tasks.map(({ length }) => length)),
    shift: seen.shift,
    firstScript: sum(new Set(seen.scripts)),
    allScript: sum(scripts.keys()),
    requests: counted,
    nodes: seen.nodes,
  };
}

/**
 * Signs in. Returns the session and the address of the VM with the given name; by default, the demo's VM whose mount
 * failed.
 */
async function prepare(): Promise<{ storageState: Storage; address: string }> {
  const client = await request.newContext({ baseURL: flags.url, extraHTTPHeaders: { origin: flags.url } });
  const answer = await client.post('/api/auth/sign-in/email', {
    data: { email: flags.email, password: flags.password },
  });
  if (!answer.ok()) throw new Error(`Sign-in answered ${answer.status()}: ${await answer.text()}`);
  const input = encodeURIComponent(JSON.stringify({ json: { q: flags.vm } }));
  const found = await client.get(`/api/trpc/finds.things?input=${input}`);
  if (!found.ok()) throw new Error(`Looking for the VM answered ${found.status()}: ${await found.text()}`);
  const { vms } = (await found.json()).result.data.json as { vms: { id: string; name: string }[] };
  const vm = vms.find(({ name }) => name === flags.vm);
  if (vm === undefined) throw new Error(`There is no VM ${flags.vm}.`);
  const storageState = await client.storageState();
  await client.dispose();
  return { storageState, address: `/vms/${vm.id}` };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function report(runs: readonly Measured[]): void {
  const names = Object.keys(figures) as (keyof typeof figures)[];
  for (const key of names) {
    const figure: Figure = figures[key];
    const value = median(runs.map((run) => run[key]));
    const shown = `${value.toFixed(figure.digits ?? 0)}${figure.unit === '' ? '' : ` ${figure.unit}`}`;
    const isOver = figure.limit !== undefined && value > figure.limit;
    if (isOver) process.exitCode = 1;
    const verdict = figure.limit === undefined ? '' : `${isOver ? 'OVER' : 'ok  '} ${figure.limit}`;
    console.log(`${figure.name.padEnd(38)}${shown.padStart(12)}   ${verdict}`);
  }
}

if (!flags.email || !flags.password) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const { storageState, address } = await prepare();
  const browser = await chromium.launch(await chromiumLaunch());
  try {
    // The first run only warms up the portal and does not count.
    await measure(browser, storageState, address);
    const runs: Measured[] = [];
    for (let run = 0; run < Number(flags.runs); run++) runs.push(await measure(browser, storageState, address));
    console.log(`${address}: median of ${runs.length} runs, CPU slowed ${flags.slowdown}×, no cache`);
    report(runs);
  } finally {
    await browser.close();
  }
}
