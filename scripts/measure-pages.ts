import { cpus, loadavg } from 'node:os';
import { type Browser, chromium, type Page, request } from '@playwright/test';
import { chromiumLaunch } from '../e2e/support/browser.ts';
import { maxScriptBytes, scriptBytesOf } from '../e2e/support/script-size.ts';
import { readFlags } from './read-flags.ts';

const usage = `Measures the speed of the pages of a running portal, in Chromium.

  npm run measure -- [--url http://localhost:3000] --email … --password … [--runs 5] [--seconds 10]

First fill the portal with a fleet of the size to measure (npm run seed -- --vms 100000). The machine's load is printed
with the figures: on a busy machine, the figures mean little.`;

const flags = readFlags(usage, {
  options: {
    url: { type: 'string', default: process.env.ANNEX_URL ?? 'http://localhost:3000' },
    email: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_EMAIL },
    password: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_PASSWORD },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
  },
});

const allowed = 300;
const allowedFrame = 50;

/** What the page must show for the measurement to end. */
type Shown = 'rows' | 'search' | 'filter' | 'map';

/**
 * Runs in the page. Measures the time from the last key or click until the content is shown and a frame has been drawn.
 * `known` is the previous content or, for `search`, the search text.
 */
function timeUntil([shown, known]: [Shown, string]): Promise<number> {
  const rows = () => [...document.querySelectorAll('table a[href^="/vms/"]')].map((link) => link.textContent ?? '');
  const settled = () => document.querySelector('main section[aria-busy="true"]') === null && rows().length > 0;
  const painted = () => {
    const canvas = document.querySelector<HTMLCanvasElement>('main canvas');
    const context = canvas?.getContext('2d');
    if (!canvas?.width || !context) return false;
    return context.getImageData(0, 0, canvas.width, Math.min(80, canvas.height)).data.some((value) => value > 0);
  };
  const isThere: Record<Shown, () => boolean> = {
    rows: () => location.pathname === '/vms' && rows().length > 0,
    search: () => settled() && rows()[0]?.includes(known) === true && rows().join() !== known,
    filter: () => settled() && document.querySelector('main [role="status"]')?.textContent !== known,
    map: painted,
  };
  return new Promise((resolve) => {
    let begun = 0;
    const note = (event: Event) => {
      begun = event.timeStamp;
    };
    for (const kind of ['keydown', 'click']) addEventListener(kind, note, true);
    const look = () => {
      if (begun === 0 || !isThere[shown]()) return void requestAnimationFrame(look);
      requestAnimationFrame(() => {
        for (const kind of ['keydown', 'click']) removeEventListener(kind, note, true);
        resolve(performance.now() - begun);
      });
    };
    look();
  });
}

async function timed(page: Page, shown: Shown, act: () => Promise<void>, known = ''): Promise<number> {
  const time = page.evaluate(timeUntil, [shown, known] as [Shown, string]);
  await act();
  return time;
}

const link = (page: Page, name: RegExp) => page.getByRole('navigation').getByRole('link', { name }).first();
const matching = (page: Page) => page.locator('main [role="status"]').first().textContent();

/** Measures each of the four durations once. */
async function walk(page: Page): Promise<Record<Shown, number>> {
  await page.goto('/settings');
  await page.waitForLoadState('networkidle');
  const rows = await timed(page, 'rows', () => link(page, /^VMs/).click());
  await page.waitForLoadState('networkidle');
  const filter = await timed(
    page,
    'filter',
    () => page.getByRole('link', { name: /^Needs attention/ }).click(),
    (await matching(page)) ?? '',
  );
  await page.goto('/vms');
  await page.waitForLoadState('networkidle');
  const names = await page.locator('table a[href^="/vms/"]').allTextContents();
  const part = (names[20] ?? '').slice(-5);
  const search = await timed(
    page,
    'search',
    async () => {
      await page.keyboard.press('/');
      await page.keyboard.type(part, { delay: 40 });
    },
    part,
  );
  const map = await timed(page, 'map', () => link(page, /^Overview/).click());
  return { rows, search, filter, map };
}

interface Frames {
  longest: number;
  late: number;
  frames: number;
  longTasks: number;
}

/**
 * Scrolls with the wheel for half of the time, then as if the scrollbar were dragged. The page records the times
 * between its frames.
 */
async function scroll(page: Page, seconds: number): Promise<Frames> {
  await page.goto('/vms');
  await page.waitForLoadState('networkidle');
  await page.mouse.move(700, 500);
  const record = page.evaluate(async (ms) => {
    const gaps: number[] = [];
    let longTasks = 0;
    const observer = new PerformanceObserver((list) => {
      longTasks += list.getEntries().length;
    });
    observer.observe({ type: 'longtask' });
    const end = performance.now() + ms;
    let last = performance.now();
    await new Promise<void>((resolve) => {
      // Uses the time of the frame, because the callback may run late.
      const frame = (now: number) => {
        gaps.push(now - last);
        last = now;
        // Scrolls far up and down the list in the second half of the time, as if the scrollbar were dragged.
        const left = end - now;
        if (left < ms / 2) {
          const height = document.documentElement.scrollHeight - innerHeight;
          scrollTo(0, height * (0.5 + 0.5 * Math.sin((left / ms) * 20)));
        }
        if (left > 0) requestAnimationFrame(frame);
        else resolve();
      };
      requestAnimationFrame(frame);
    });
    observer.disconnect();
    return { gaps: gaps.slice(1), longTasks };
  }, seconds * 1_000);
  for (const until = Date.now() + seconds * 500; Date.now() < until; ) {
    await page.mouse.wheel(0, 240);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  const { gaps, longTasks } = await record;
  return {
    longest: Math.max(...gaps),
    late: gaps.filter((gap) => gap > allowedFrame).length,
    frames: gaps.length,
    longTasks,
  };
}

async function scriptOf(state: State, address: string): Promise<number> {
  const client = await request.newContext({ baseURL: flags.url, ...(state && { storageState: state }) });
  const bytes = await scriptBytesOf(client, address);
  await client.dispose();
  return bytes;
}

type State = Awaited<ReturnType<Awaited<ReturnType<typeof request.newContext>>['storageState']>> | undefined;

async function signIn(): Promise<State> {
  const client = await request.newContext({ baseURL: flags.url, extraHTTPHeaders: { origin: flags.url } });
  const answer = await client.post('/api/auth/sign-in/email', {
    data: { email: flags.email, password: flags.password },
  });
  if (!answer.ok()) throw new Error(`Sign-in answered ${answer.status()}: ${await answer.text()}`);
  return client.storageState();
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const busy = (): string => `load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`;

async function measure(browser: Browser): Promise<void> {
  const state = await signIn();
  const context = await browser.newContext({
    baseURL: flags.url,
    storageState: state,
    locale: 'en',
    viewport: { width: 1440, height: 900 },
  });
  const page = await context.newPage();
  console.log(`${flags.url}, ${busy()}`);
  // The first visit is not measured, because it loads files that the browser then caches.
  await walk(page);
  const runs: Record<Shown, number>[] = [];
  for (let run = 0; run < Number(flags.runs); run++) runs.push(await walk(page));
  const words: Record<Shown, string> = {
    rows: 'VMs: click to first rows',
    filter: 'VMs: filter to rows',
    search: 'VMs: last key to rows',
    map: 'Overview: click to map',
  };
  console.table(
    Object.entries(words).map(([shown, what]) => {
      const times = runs.map((run) => run[shown as Shown]);
      const most = Math.max(...times);
      return {
        what,
        'median ms': Math.round(median(times)),
        'max ms': Math.round(most),
        [`≤ ${allowed}`]: most <= allowed,
      };
    }),
  );
  console.log(`scrolling for ${flags.seconds} s, ${busy()}`);
  const { longest, late, frames, longTasks } = await scroll(page, Number(flags.seconds));
  console.table([
    { frames, 'longest gap ms': Math.round(longest), [`gaps > ${allowedFrame} ms`]: late, 'long tasks': longTasks },
  ]);
  const vm = await page.locator('table a[href^="/vms/"]').first().getAttribute('href');
  await context.close();

  const addresses = ['/sign-in', '/', '/vms', vm ?? '/vms', '/handlers', '/publish', '/activity', '/settings'];
  const sizes = [];
  for (const address of addresses) {
    const bytes = await scriptOf(address === '/sign-in' ? undefined : state, address);
    const shown = address === vm ? '/vms/{id}' : address;
    sizes.push({
      page: shown,
      'script kB gzip': Math.round(bytes / 100) / 10,
      [`≤ ${maxScriptBytes / 1000}`]: bytes <= maxScriptBytes,
    });
  }
  console.table(sizes);
}

if (!flags.email || !flags.password) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const browser = await chromium.launch(await chromiumLaunch());
  try {
    await measure(browser);
  } finally {
    await browser.close();
  }
}
