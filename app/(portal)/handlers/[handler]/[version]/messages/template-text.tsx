'use client';

/** A template with its placeholders highlighted. */
export function TemplateText({ text }: { text: string }) {
  return text.split(/(\{\d{1,4}\}|<\d{1,4}>)/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
      <span translate="no" key={index} className="mono text-brand-text">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
