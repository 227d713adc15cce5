ALTER TABLE "api_tokens" ADD COLUMN "scripts" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "scripts" boolean DEFAULT false NOT NULL;