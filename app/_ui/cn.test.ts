import { describe, expect, it } from 'vitest';
import { cn } from './cn.ts';

describe('cn', () => {
  it.each([
    ['a size for a size', 'size-3.5 text-st-solid', 'size-3', 'text-st-solid size-3'],
    ['a size for width and height', 'h-2 w-24', 'size-4', 'size-4'],
    ['a width, and the height stays', 'h-2.5 w-24', 'w-48', 'h-2.5 w-48'],
    ['a colour, and the type size stays', 'text-13 text-ink', 'text-ink-2', 'text-13 text-ink-2'],
    ['a type size, and the colour stays', 'text-13 text-ink', 'text-12', 'text-ink text-12'],
    ['a weight, and the face stays', 'font-sans font-medium', 'font-normal', 'font-sans font-normal'],
    ['nothing of gaps along both axes', 'gap-x-2 gap-y-1', 'px-4', 'gap-x-2 gap-y-1 px-4'],
    ['padding on all sides', 'px-4 pb-4', 'p-0', 'p-0'],
    ['nothing under another condition', 'w-6', 'max-sm:w-full', 'w-6 max-sm:w-full'],
    ['nothing that it does not know', 'animate-pop', 'foo bar', 'animate-pop foo bar'],
  ])('a caller replaces %s', (_, own, given, expected) => {
    expect(cn(own, given)).toBe(expected);
  });
});
