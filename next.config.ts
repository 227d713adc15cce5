import type { NextConfig } from 'next';

/** For pages and their files; the doors answer for themselves. The scripts' policy comes with the pages (docs/adr). */
const headers = [
  { key: 'X-Content-Type-Options', value: 'nosniff' },
  { key: 'Referrer-Policy', value: 'same-origin' },
  { key: 'X-Frame-Options', value: 'DENY' },
  {
    key: 'Content-Security-Policy',
    value: "frame-ancestors 'none'; object-src 'none'; base-uri 'self'; form-action 'self'",
  },
  { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
  { key: 'Permissions-Policy', value: 'camera=(), geolocation=(), microphone=(), payment=(), usb=()' },
];

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  compress: true,
  // Types are checked by `npm run verify`, for the whole house at once.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  headers: async () => [{ source: '/:path*', headers }],
};

export default config;
