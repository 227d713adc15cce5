import type { Locator, Page } from '@playwright/test';

/** A line of output that contains the time at which it was written. Times are in milliseconds since 1970. */
export interface TimedLine {
  written: number;
  /** When the line was first in the document. */
  shown: number;
}

/** Records when lines such as `at 1764000000000` appear on the page, until the page is left. */
export async function recordTimedLines(log: Locator): Promise<void> {
  await log.evaluate((region) => {
    const shown = new Map<string, number>();
    Object.assign(window, { shownLines: shown });
    const record = () => {
      for (const [, written = ''] of (region.textContent ?? '').matchAll(/at (\d{13})/g)) {
        if (!shown.has(written)) shown.set(written, Date.now());
      }
    };
    new MutationObserver(record).observe(region, { childList: true, subtree: true, characterData: true });
  });
}

/** Returns the recorded lines in the order in which they were written. */
export async function timedLines(page: Page): Promise<TimedLine[]> {
  const shown = await page.evaluate(() => [...(window as unknown as { shownLines: Map<string, number> }).shownLines]);
  return shown.map(([written, at]) => ({ written: Number(written), shown: at })).sort((a, b) => a.written - b.written);
}

/** Returns the length of the longest period in which every line was shown within `withinMs`, in milliseconds. */
export function longestPeriod(lines: readonly TimedLine[], withinMs: number): number {
  let [longest, from] = [0, Number.POSITIVE_INFINITY];
  for (const { written, shown } of lines) {
    if (shown - written > withinMs) from = Number.POSITIVE_INFINITY;
    else {
      from = Math.min(from, written);
      longest = Math.max(longest, written - from);
    }
  }
  return longest;
}

/** Loads a page, and returns the milliseconds until the first line of the log is on screen. */
export async function timeToFirstLine(page: Page, url: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'commit' });
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          const row = document.querySelector('[data-row] > span:last-child');
          if (row?.textContent?.trim()) resolve(performance.now());
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

export interface ScrollMeasure {
  frames: number;
  /** Frames that took longer than 32 ms. */
  slow: number;
  /** Frames in which a part of the view had no row. */
  blank: number;
  /** Frames with rows whose text was still loading. */
  loading: number;
}

/** Scrolls down by `step` pixels in each frame, and looks at each frame before it is painted. */
export function measureScroll(log: Locator, step: number, frames: number): Promise<ScrollMeasure> {
  return log.evaluate(
    (region, input) =>
      new Promise<ScrollMeasure>((resolve) => {
        const measure = { frames: 0, slow: 0, blank: 0, loading: 0 };
        const look = () => {
          const view = region.getBoundingClientRect();
          let [covered, isLoading] = [0, false];
          for (const row of region.querySelectorAll('[data-row]')) {
            const { top, bottom } = row.getBoundingClientRect();
            const height = Math.min(bottom, view.bottom) - Math.max(top, view.top);
            if (height <= 0) continue;
            covered += height;
            if (row.lastElementChild?.textContent?.trim() === '') isLoading = true;
          }
          if (covered < region.clientHeight - 1) measure.blank += 1;
          if (isLoading) measure.loading += 1;
        };
        let before = performance.now();
        const next = (now: number) => {
          if (measure.frames > 0 && now - before > 32) measure.slow += 1;
          before = now;
          if (measure.frames === input.frames) return resolve(measure);
          measure.frames += 1;
          region.scrollTop += input.step;
          look();
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      }),
    { step, frames },
  );
}

/** Opens a list of rows that contain only their number. Moves a few row elements to the visible part on each scroll. */
export async function openEmptyList(page: Page, rows: number): Promise<Locator> {
  await page.goto('about:blank');
  await page.evaluate((count) => {
    document.body.innerHTML =
      '<section style="height:608px;overflow:auto"><div style="position:relative"></div></section>';
    const list = document.querySelector('section') as HTMLElement;
    const rowsOf = list.firstElementChild as HTMLElement;
    rowsOf.style.height = `${count * 20}px`;
    const shown = Array.from({ length: 72 }, () => {
      const row = document.createElement('div');
      row.dataset.row = '';
      row.append(document.createElement('span'));
      row.style.cssText = 'position:absolute;height:20px;width:100%';
      rowsOf.append(row);
      return row;
    });
    const place = () => {
      const first = Math.max(0, Math.floor(list.scrollTop / 20) - 20);
      for (const [index, row] of shown.entries()) {
        row.style.transform = `translateY(${(first + index) * 20}px)`;
        (row.firstElementChild as HTMLElement).textContent = String(first + index);
      }
    };
    list.addEventListener('scroll', place);
    place();
  }, rows);
  return page.locator('section');
}

/** Returns the used size of a page's JavaScript heap after garbage collection, in bytes. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
