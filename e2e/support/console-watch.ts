import { expect, type Page } from '@playwright/test';

/**
 * Collects what a page complains about, what its policy blocks, and what it asks of other hosts; a complaint that the
 * test did not foresee fails it.
 */
export class ConsoleWatch {
  readonly #complaints: string[] = [];
  readonly #allowed: RegExp[] = [];

  watch(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.#complaints.push(error.stack ?? error.message));
    page.on('request', (request) => {
      const from = new URL(request.frame().url()).origin;
      const to = new URL(request.url());
      const leaves = from !== 'null' && /^(https?|wss?):$/.test(to.protocol) && to.origin !== from;
      if (leaves && !request.isNavigationRequest()) this.#complaints.push(`${from} asks another host: ${to.href}`);
    });
  }

  /** A complaint that belongs to the journey: a refused request, a lost connection. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  expectQuiet(): void {
    const unforeseen = this.#complaints.filter((text) => !this.#allowed.some((pattern) => pattern.test(text)));
    expect(unforeseen, 'console errors and page errors').toEqual([]);
  }
}
