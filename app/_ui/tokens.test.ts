import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

/** Returns the custom properties in the first block after `start`. */
function block(start: string): Map<string, string> {
  const from = css.indexOf(start);
  const body = css.slice(css.indexOf('{', from + start.length - 1) + 1, css.indexOf('}', from));
  return new Map(
    [...body.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value.trim()]),
  );
}

const light = block("[data-theme='light'] {");
const dark = block("[data-theme='dark'] {");
const darkBySystem = block(':root:not([data-theme]) {');

/** Returns the contrast ratio as defined by WCAG 2. */
function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m) as [number, number];
  return (x + 0.05) / (y + 0.05);
}

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

describe('tokens', () => {
  it('has the same dark theme whether the reader or the system chooses it', () => {
    expect(dark.size).toBeGreaterThan(50);
    expect([...darkBySystem]).toEqual([...dark]);
    expect([...dark.keys()].sort()).toEqual([...light.keys()].sort());
  });

  const statuses = ['healthy', 'progressing', 'warning', 'failed', 'unresponsive', 'unknown', 'disabled'];
  describe.each([
    ['light', light],
    ['dark', dark],
  ] as const)('%s', (_, tokens) => {
    const value = (name: string): string => tokens.get(`--${name}`) ?? '';
    it.each(['text', 'text-2', 'text-3', 'brand-text', ...statuses.map((status) => `${status}-text`)])(
      '%s is readable on every background',
      (text) => {
        for (const ground of ['canvas', 'surface', 'raised', 'sunken', 'hover', 'brand-tint']) {
          if (ground === 'brand-tint' && text === 'text-3') continue;
          expect(contrast(value(text), value(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
        }
      },
    );
    it.each(statuses)('%s is readable on its own tint', (status) => {
      expect(contrast(value(`${status}-text`), value(`${status}-tint`))).toBeGreaterThanOrEqual(4.5);
    });
    it('has controls with visible edges', () => {
      expect(contrast(value('line-control'), value('surface'))).toBeGreaterThanOrEqual(3);
    });
  });
});
