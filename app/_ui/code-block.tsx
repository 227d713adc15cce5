import type { ReactNode } from 'react';
import { cn } from './cn.ts';

export interface CodeLineNote {
  line: number;
  status: 'failed' | 'warning';
  /** Shown below the line. */
  text: ReactNode;
}

export interface CodeBlockProps {
  code: string;
  /** The accessible name, required because the region can be scrolled by keyboard. */
  label: string;
  /** Number of the first line; 1 by default. */
  first?: number;
  /** False for output in which line numbers have no meaning. */
  numbers?: boolean;
  /** `json` highlights keys, strings and other values. */
  language?: 'json' | 'text';
  /** Findings, each below its line. */
  notes?: readonly CodeLineNote[];
  /** Number of the highlighted line. */
  marked?: number | undefined;
  /** The tone of the highlight; `failed` by default. */
  markedAs?: 'failed' | 'progressing';
  /** Tailwind height, such as `max-h-80`. */
  className?: string;
}

/** Output or input of a program: monospaced, in a scrolling container. For editing, use `JsonEditor`. */
export function CodeBlock({
  code,
  label,
  first = 1,
  numbers = true,
  language = 'text',
  notes = [],
  marked,
  markedAs = 'failed',
  className,
}: CodeBlockProps) {
  const lines = code.split('\n');
  const wide = String(first + lines.length - 1).length;
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      className={cn('mono overflow-auto rounded-md bg-sunken py-2 shadow-hair-subtle', className)}
    >
      <div className="w-max min-w-full">
        {lines.map((line, index) => {
          const number = first + index;
          const found = notes.filter((note) => note.line === number);
          const worst = found.find((note) => note.status === 'failed') ?? found[0];
          const status = marked === number ? markedAs : worst?.status;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its number
            <div key={index} data-st={status} data-marked={marked === number || undefined}>
              <div className={cn('flex', status && 'bg-st-tint')}>
                {numbers ? (
                  <span
                    aria-hidden
                    className={cn('shrink-0 pe-3 text-end text-ink-3 select-none', wide > 3 ? 'w-18' : 'w-10')}
                  >
                    {number}
                  </span>
                ) : null}
                <code className={cn('whitespace-pre', numbers ? 'pe-3' : 'px-3', status && 'text-st-text')}>
                  {line === '' ? ' ' : language === 'json' ? <JsonLine line={line} /> : line}
                </code>
              </div>
              {found.map((note, place) => (
                <div
                  // biome-ignore lint/suspicious/noArrayIndexKey: the findings of a line keep their order
                  key={place}
                  data-st={note.status}
                  className="sticky left-0 -mb-px border-y border-st-line bg-st-tint py-1 ps-12 pe-3 font-sans text-12 text-st-text"
                >
                  {note.text}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </section>
  );
}

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;

/** Highlights tokens. The text itself never changes, even if it is not JSON. */
function JsonLine({ line }: { line: string }) {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of line.matchAll(token)) {
    parts.push(line.slice(from, match.index));
    const [whole, text, colon, literal] = match;
    const color =
      literal !== undefined ? 'text-progressing-text' : colon !== undefined ? 'text-brand-text' : 'text-healthy-text';
    parts.push(
      <span key={match.index} className={color}>
        {text ?? literal}
      </span>,
      colon ?? '',
    );
    from = match.index + whole.length;
  }
  parts.push(line.slice(from));
  return <>{parts}</>;
}
