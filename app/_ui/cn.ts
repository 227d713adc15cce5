import { type ClassValue, clsx } from 'clsx';
import { createTailwindMerge } from 'tailwind-merge';

const any = () => true;
const each = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, [{ [name]: [any] }]]));

/**
 * The groups of classes that callers of the design system override. tailwind-merge's own table covers all of Tailwind
 * and would add 7 KB to every page.
 */
const merge = createTailwindMerge(() => ({
  cacheSize: 500,
  theme: {},
  classGroups: {
    ...each(['size', 'w', 'h', 'min-w', 'max-w', 'min-h', 'max-h', 'p', 'px', 'py', 'ps', 'pe', 'pt', 'pb']),
    ...each(['m', 'mx', 'my', 'ms', 'me', 'mt', 'mb', 'gap', 'gap-x', 'gap-y', 'shadow', 'bg', 'opacity', 'z']),
    ...each(['grid-cols', 'items', 'leading', 'overflow', 'overflow-x', 'overflow-y']),
    rounded: [{ rounded: ['none', 'xs', 'sm', 'md', 'lg', 'xl', 'full'] }],
    justify: [{ justify: ['start', 'center', 'end', 'between'] }],
    'text-size': [{ text: ['11', '12', '13', '14', '16', '20', '26'] }],
    'text-align': [{ text: ['start', 'center', 'end'] }],
    'text-color': [{ text: [any] }],
    'font-weight': [{ font: ['normal', 'medium', 'semibold'] }],
    display: ['block', 'inline', 'inline-block', 'flex', 'inline-flex', 'grid', 'inline-grid', 'hidden'],
    position: ['static', 'relative', 'absolute', 'fixed', 'sticky'],
    'white-space': [{ whitespace: [any] }],
  },
  conflictingClassGroups: {
    size: ['w', 'h'],
    gap: ['gap-x', 'gap-y'],
    overflow: ['overflow-x', 'overflow-y'],
    p: ['px', 'py', 'ps', 'pe', 'pt', 'pb'],
    px: ['ps', 'pe'],
    py: ['pt', 'pb'],
    m: ['mx', 'my', 'ms', 'me', 'mt', 'mb'],
    mx: ['ms', 'me'],
    my: ['mt', 'mb'],
  },
  conflictingClassGroupModifiers: {},
  orderSensitiveModifiers: [],
}));

/**
 * Joins class names. If two names belong to the same group above, the later name wins, so that callers can override
 * styles.
 */
export function cn(...classes: ClassValue[]): string {
  return merge(clsx(classes));
}
