import { expect, type Page } from '@playwright/test';

/** Name of the page's function that reports a click or a key press to the test. */
const binding = 'annexCountPress';

/** Counts what a person does on a page. */
export interface Clicks {
  /** Fails if the task took more clicks than `limit`, and prints a line with the count. */
  expectAtMost(task: string, limit: number): Promise<void>;
  /** Resets the count to 0, for example after a check that is not part of the task. */
  restart(): Promise<void>;
}

/**
 * Counts the reader's clicks and key presses from now on, across navigations. Typing and Backspace in a field and
 * modifier keys do not count; neither does the click that a key press on a button causes.
 */
export async function countClicks(page: Page): Promise<Clicks> {
  let presses: string[] = [];
  await page.exposeFunction(binding, (press: string) => void presses.push(press));
  await page.addInitScript(listen, binding);
  await page.evaluate(listen, binding);
  /** Waits until the page's earlier calls have arrived. */
  const settle = () => page.evaluate(() => undefined);
  return {
    async expectAtMost(task, limit) {
      await settle();
      process.stdout.write(`task: ${task}: ${presses.length} of ${limit} clicks\n`);
      expect(presses.length, `${task} needs an action`).toBeGreaterThan(0);
      expect(presses, task).toHaveLength(Math.min(presses.length, limit));
    },
    async restart() {
      await settle();
      presses = [];
    },
  };
}

/** Runs in the page. Reports each click and key press that counts. */
function listen(report: string): void {
  const tell = (press: string) => (window as unknown as Record<string, (press: string) => void>)[report]?.(press);
  const isField = (target: EventTarget | null) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea)$/i.test(target.tagName));
  addEventListener('click', (event) => event.isTrusted && event.detail > 0 && tell('click'), { capture: true });
  addEventListener(
    'keydown',
    (event) => {
      if (!event.isTrusted || event.repeat || ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
      const isTyping = isField(event.target) && !event.ctrlKey && !event.metaKey;
      if (isTyping && (event.key.length === 1 || event.key === 'Backspace')) return;
      tell(event.key);
    },
    { capture: true },
  );
}
