import { type ClassValue, clsx } from 'clsx';
import { extendTailwindMerge } from 'tailwind-merge';

const merge = extendTailwindMerge({
  extend: {
    theme: {
      text: ['11', '12', '13', '14', '16', '20', '26'],
      shadow: ['1', '2', '3', 'card', 'float', 'control', 'hair', 'hair-subtle', 'field', 'focus'],
    },
    classGroups: { 'font-family': ['mono', 'mono-11'] },
  },
});

/** Joins class names; of two that set the same property the later wins, so that callers can override. */
export function cn(...classes: ClassValue[]): string {
  return merge(clsx(classes));
}
