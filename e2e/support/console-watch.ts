import { expect, type Page } from '@playwright/test';

/**
 * Collects a page's errors, including those about blocked content, and its requests to other hosts. An unexpected error
 * or request fails the test.
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

  /** Allows a message, such as a rejected request or a lost connection. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  expectQuiet(): void {
    const unforeseen = this.#complaints.filter((text) => !this.#allowed.some((pattern) => pattern.test(text)));
    expect(unforeseen, 'console errors and page errors').toEqual([]);
  }
}
