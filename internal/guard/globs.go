package guard

import (
	"sync"

	"conclave/internal/glob"
)

// Why a change is protected.
const (
	Reviewer      = "reviewer definition"
	Instruction   = "instruction file"
	Configuration = "conclave.yaml"
	CI            = "CI file"
	VerifyCommand = "verify command"
	DeletedTest   = "deleted test"
	SkippedTest   = "skipped test"
	// HiddenFile is a file that the verifier reads and no review sees, because an ignore rule covers it.
	HiddenFile = "ignored file that tests read"
	// Listed is a path of a user's glob that states no reason.
	Listed = "protected path"
)

// instructionGlobs are what coding agents read unasked: files of instructions, folders of settings, hooks and servers.
var instructionGlobs = []string{
	"**/AGENTS.md", "**/AGENTS.override.md", "**/AGENT.md", "**/.agents", "**/.agent", "**/.rules",
	"**/CLAUDE.md", "**/CLAUDE.local.md", "**/.claude", "**/.claude.json", "**/.mcp.json",
	"**/CODEX.md", "**/.codex",
	"**/GEMINI.md", "**/.gemini", "**/.geminiignore",
	"**/OPENCODE.md", "**/.opencode", "**/opencode.json", "**/opencode.jsonc",
	"**/QWEN.md", "**/.qwen", "**/CRUSH.md", "**/.crush", "**/.crush.json", "**/crush.json", "**/WARP.md",
	"**/.cursor", "**/.cursorrules", "**/.windsurf", "**/.windsurfrules", "**/.clinerules", "**/.roo", "**/.roorules",
	"**/.kilocode", "**/.kilocodemodes", "**/.roomodes", "**/.continue", "**/.continuerules", "**/.augment", "**/.augment-guidelines",
	"**/.aider.conf.yml", "**/.goosehints", "**/.junie", "**/.amazonq", "**/.kiro", "**/.trae", "**/.factory", "**/.pi",
	"**/.vscode/mcp.json", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".github/chatmodes", ".github/agents",
	".github/skills", ".github/hooks",
}

var configurationGlobs = []string{"conclave.yaml", "conclave.yml"}

// ciGlobs are what builds and checks a repository elsewhere.
var ciGlobs = []string{
	".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci", "**/Jenkinsfile", "**/Jenkinsfile.*", "**/*.jenkinsfile",
	".circleci", "azure-pipelines*.yml", "azure-pipelines*.yaml", ".azure-pipelines", ".azuredevops", ".azure/pipelines",
	".travis.yml", ".appveyor.yml", "appveyor.yml", "bitbucket-pipelines.yml", ".buildkite", ".drone.yml", ".drone.star", ".drone.jsonnet",
	".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml", ".cirrus.star", ".semaphore", ".teamcity", ".tekton", ".builds", ".build.yml",
	".gitea/workflows", ".gitea/actions", ".forgejo/workflows", ".forgejo/actions", "cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml", "buildspec.yaml",
	"codemagic.yaml", "wercker.yml", ".prow.yaml", "zuul.yaml", ".zuul.yaml", "zuul.d", ".zuul.d",
}

// generatedGlobs are what nobody writes by hand: vendored, locked, generated and built. A word in a file never makes it
// one of them: an attacker can write that word.
var generatedGlobs = []string{
	"**/vendor", "**/node_modules", "**/third_party", "**/bower_components", "**/.yarn/releases", "**/.yarn/cache", "**/.pnp.*",
	"**/*.lock", "**/go.sum", "**/go.work.sum", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml", "**/bun.lockb",
	"**/Package.resolved", "**/gradle.lockfile", "**/.terraform.lock.hcl", "**/packages.lock.json",
	"**/*.pb.go", "**/*.pb.gw.go", "**/*.pb.cc", "**/*.pb.h", "**/*_pb2.py", "**/*_pb2.pyi", "**/*_pb2_grpc.py",
	"**/*_pb.js", "**/*_pb.ts", "**/*_pb.d.ts", "**/*.pb.dart", "**/*.g.dart", "**/*.freezed.dart",
	"**/*_generated.go", "**/*.generated.*", "**/*.gen.go", "**/*.gen.ts", "**/zz_generated.*", "**/*_string.go", "**/*.Designer.cs",
	"**/dist", "**/*.min.js", "**/*.min.css", "**/*.min.mjs", "**/*.js.map", "**/*.css.map", "**/*.bundle.js",
	"**/__snapshots__", "**/*.snap",
}

// DefaultGenerated are the globs of files that are listed and not counted, in addition to a user's own.
func DefaultGenerated() []string { return append([]string{}, generatedGlobs...) }

// instructs knows the paths that must not instruct a reviewer in a writer's words. Names are compared as a file system
// without case reads them.
var instructs = sync.OnceValue(func() func(string) bool {
	return must(append(append([]string{}, instructionGlobs...), configurationGlobs...))
})

// Instructs reports whether a path is an agent's instruction file, in an agent's folder of settings, or conclave.yaml.
func Instructs(path string) bool { return instructs()(path) }

func must(globs []string) func(string) bool {
	match, err := glob.CompileFold(globs)
	if err != nil {
		panic(err) // they are constants
	}
	return match
}
