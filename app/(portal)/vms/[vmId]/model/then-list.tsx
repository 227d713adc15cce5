import type { ReactNode } from 'react';

/** What an act leads to, as a list of icons and sentences. */
export function ThenList({ items }: { items: readonly { icon: ReactNode; text: ReactNode }[] }) {
  return (
    <ul className="grid gap-1.5 rounded-md bg-sunken px-3 py-2.5 text-12 shadow-hair-subtle [&_svg]:mt-0.5 [&_svg]:size-3.5 [&_svg]:shrink-0 [&_svg]:text-ink-2">
      {items.map(({ icon, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the sentences keep their order
        <li key={index} className="flex gap-2 wrap-anywhere">
          {icon}
          <span className="min-w-0 text-pretty">{text}</span>
        </li>
      ))}
    </ul>
  );
}
