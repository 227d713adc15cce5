import { Fragment } from 'react';

/** A text whose names of environment variables are shown as code. */
export function VariableNames({ text }: { text: string }) {
  return text.split(/(\bANNEX_\w+)/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
      <code key={index} translate="no" className="mono">
        {part}
      </code>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
      <Fragment key={index}>{part}</Fragment>
    ),
  );
}
